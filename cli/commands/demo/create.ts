import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CreateProjectBody, Project } from "../../../src/contract/project.ts";
import type { CreateSessionBody } from "../../../src/contract/session.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import { remoteUrl } from "../../gateway.ts";
import { gitFailed, gitIn } from "../../git.ts";
import { oneLine, shellWord } from "../../text.ts";
import { start } from "../sessions/new.ts";
import { setHelper } from "../ship/credential-helper.ts";
import { gatewayEnvironment } from "../ship/push.ts";
import type { Demo } from "./demo.ts";
import { newDemo, writeRecord } from "./record.ts";
import { MODEL, SAMPLE, TASK } from "./sample.ts";
import { announce } from "./say.ts";

/** A push of a few files. */
const PUSH_SECONDS = 120;

/** Creates the project, and records its id. A project that was deleted elsewhere is not continued, but another demo started. */
export async function createProject(demo: Demo): Promise<void> {
  const { api, context, record, files } = demo;
  if (record.project_id !== null) await writeRecord(files.file, Object.assign(record, newDemo()));
  const { name } = record;
  await announce(demo, "A sample project, whose repository svc hosts", [
    `svc projects new --name ${shellWord(name)}`,
  ]);
  const body: CreateProjectBody = { name };
  if (api.target.accountId !== undefined) body.account_id = api.target.accountId;
  const project = await api.call<Project>({ path: "/projects", body, slow: true });
  record.project_id = project.project_id;
  await writeRecord(files.file, record);
  await context.out.note(`Created the project ${oneLine(project.slug)} on ${api.target.name}.`);
}

/** Commits the sample in a folder of its own, and pushes it. */
export async function pushSample(demo: Demo, { project }: { project: Project }): Promise<void> {
  const { api, context, files } = demo;
  await announce(demo, "A small web app, pushed to main", ["svc ship"]);
  await rm(files.staging, { recursive: true, force: true });
  for (const [name, text] of Object.entries(SAMPLE)) {
    const file = join(files.staging, name);
    await mkdir(dirname(file), { recursive: true });
    await Bun.write(file, text);
  }
  const git = gitIn(context.system, files.staging);
  const branch = project.default_branch;
  await git.output("init", "--quiet", `--initial-branch=${branch}`);
  await git.output("-c", "core.autocrlf=false", "add", "--all", "--force");
  await git.output(
    ...AUTHOR,
    "commit",
    "--quiet",
    "--no-verify",
    "--no-gpg-sign",
    "--message=A small web app",
  );
  await setHelper(context.system, git, api.target.url);
  const url = remoteUrl(api.target.url, project.project_id);
  const ref = `refs/heads/${branch}`;
  const { code, output } = await git.watch(["push", "--quiet", "--no-verify", "--", url, `${ref}:${ref}`], {
    hidden: true,
    seconds: PUSH_SECONDS,
    env: gatewayEnvironment(api.target),
  });
  await rm(files.staging, { recursive: true, force: true });
  if (code !== 0) throw gitFailed("push", code, output);
  await context.out.note(`Pushed ${Object.keys(SAMPLE).length} files.`);
}

/** The person's own name and hooks do not belong into a sample. */
const AUTHOR = [
  "-c",
  "user.name=svc demo",
  "-c",
  "user.email=demo@svc.invalid",
  "-c",
  "core.hooksPath=/dev/null",
];

export async function startSession(demo: Demo, { project }: { project: Project }): Promise<void> {
  const { api, context, record } = demo;
  const flags = `--model ${MODEL} --prompt ${shellWord(TASK)}`;
  await announce(demo, "A session: an agent in a sandbox, on a branch of its own", [
    `svc sessions new --project ${project.slug} ${flags}`,
  ]);
  await context.out.note(
    "No model is used. The agent runtime is the real one; in place of a model, a script in the repository answers it.",
  );
  const body: CreateSessionBody = {
    session_id: record.session_id,
    name: "Greet the visitors",
    model: MODEL,
    initial_prompt: TASK,
  };
  await start(api, path`/projects/${project.project_id}/sessions`, body).catch((error: unknown) => {
    if (!(error instanceof CliError) || error.code !== "session_exists") throw error;
  });
}
