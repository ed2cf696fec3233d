import type { Project } from "../../../src/contract/project.ts";
import { path as at } from "../../api.ts";
import { CliError } from "../../failure.ts";
import { gatewayUrl } from "../../gateway.ts";
import { gitFailed, gitIn } from "../../git.ts";
import { type GitRemote, readRemotes } from "../../git-remotes.ts";
import { hasRepository } from "../../project-by-remote.ts";
import type { Handler } from "../../spec.ts";
import type { System } from "../../system.ts";
import type * as table from "../../table/cr-read.ts";
import { oneLine, shellWord } from "../../text.ts";
import { gatewayEnvironment } from "../ship/push.ts";
import { findCr, readCr } from "./reference.ts";

/** Timeout of a fetch in seconds: the first one may be of a whole repository. */
const FETCH_SECONDS = 600;

export const checkout: Handler<typeof table.checkout> = async (context, { args }) => {
  const { system, out, globals } = context;
  const { api, path } = await findCr(context, args.cr);
  const cr = await readCr({ api, path });
  const project = await api.call<Project>({ path: at`/projects/${cr.project_id}` });
  const remote = await remoteOf(system, project);
  const git = gitIn(system, system.cwd);
  const { head_ref: branch, number } = cr;
  // the name is a server's: git must not read it as an option
  await git.output("check-ref-format", "--branch", branch);
  const fetched = `refs/remotes/${remote.name}/${branch}`;
  const { code, output } = await git.watch(
    [
      "fetch",
      ...(out.data.json || out.quiet ? ["--quiet"] : []),
      ...["--no-tags", "--", remote.name, `+refs/heads/${branch}:${fetched}`],
    ],
    {
      hidden: out.data.json,
      seconds: globals.timeout ?? FETCH_SECONDS,
      env: remote.url.startsWith(`${gatewayUrl(api.target.url)}/`)
        ? gatewayEnvironment(api.target)
        : { GIT_TERMINAL_PROMPT: context.canAsk() ? "1" : "0" },
    },
  );
  if (code !== 0) throw gitFailed("fetch", code, output);
  const isHere = (await git.run("show-ref", "--verify", "--quiet", `refs/heads/${branch}`)).code === 0;
  if (isHere) {
    await git.output("switch", branch);
    await git.output("merge", "--ff-only", fetched);
  } else await git.output("switch", "--create", branch, "--track", fetched);
  const commit_sha = (await git.output("rev-parse", "--verify", "HEAD")).trim();
  await out.result(
    { number, branch, remote: remote.name, commit_sha },
    () => `On ${oneLine(branch)}, the branch of #${number}, at ${commit_sha.slice(0, 10)}.\n`,
  );
};

/** The remote with the project's repository. @throws CliError `git` if there is none. */
async function remoteOf(system: System, project: Project): Promise<GitRemote> {
  const remotes = await readRemotes(system);
  const found = remotes.find(({ url }) => hasRepository(project, url));
  if (found) return found;
  throw new CliError("git", `This directory is not in a clone of ${oneLine(project.slug)}'s repository.`, {
    hint: `Change to your clone of it, or make one with \`svc projects clone ${shellWord(project.slug)}\`.`,
  });
}
