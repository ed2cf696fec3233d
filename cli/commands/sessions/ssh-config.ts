import { mkdir, readFile, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Project } from "../../../src/contract/project.ts";
import type { Session } from "../../../src/contract/session.ts";
import { path } from "../../api.ts";
import { replace } from "../../config-write.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import { ownKeys, sshFolder } from "../../ssh/keys.ts";
import { sshOptions } from "../../ssh/options.ts";
import type * as table from "../../table/session-exec.ts";
import { lines, oneLine } from "../../text.ts";
import { shortId } from "./show-session.ts";

/** Names that editors offer; others are found by the pattern. */
const LISTED_MAX = 50;

export const sshConfig: Handler<typeof table.sshConfig> = async (context, { flags }) => {
  const { system, out } = context;
  const { project, text, example } = await configOf(context);
  if (!flags.write) return await system.stdout.write(lines(text));
  const file = join(sshFolder(system), "hosts", `${project}.conf`);
  const own = join(system.env["HOME"] || homedir(), ".ssh", "config");
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await replace(file, text);
    await include(own, `Include "${join(dirname(file), "*.conf")}"`);
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new CliError("file", `The configuration of ssh cannot be written (${code}): ${oneLine(own)}`);
  }
  await out.note(`Wrote ${file}, which ${own} includes.\nConnect with: ssh ${example}`);
};

/** What ssh must know of a project's sandboxes. */
async function configOf(context: Context): Promise<{ project: string; text: string; example: string }> {
  const { system } = context;
  const target = await context.target();
  if (target.source === "SVC_API_URL")
    throw usage(
      "ssh-config needs a stored host, since ssh has not the variables of this shell.",
      "Sign in with svc login, and unset SVC_API_URL.",
    );
  const { id } = await context.project();
  const api = await context.api();
  const [{ identityFile }, project, sessions] = await Promise.all([
    ownKeys(system),
    api.call<Project>({ path: path`/projects/${id}` }),
    api.list<Session>({ path: path`/projects/${id}/sessions` }, "sessions", LISTED_MAX),
  ]);
  const domain = `${project.slug}.svc`;
  const running = sessions.filter(({ status }) => status === "running");
  const names = running.map((session) => `${shortId(session)}.${domain}`);
  const way = { server: target.name, project: project.project_id, name: "%n", identityFile };
  const text = [
    "# Written by svc sessions ssh-config --write, which replaces this file.",
    `Host ${[...names, `*.${domain}`].join(" ")}`,
    ...sshOptions(system, way).map((line) => `  ${line}`),
    "",
  ].join("\n");
  return { project: project.project_id, text, example: names[0] ?? `<id>.${domain}` };
}

/** Puts a line before all else in the user's file, unless it is there. The rest stays as it is. */
async function include(file: string, line: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // it may be a link into a folder with configuration
  const target = await realpath(file).catch(() => file);
  const text = await readFile(target, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return "";
    throw error;
  });
  if (text.split("\n").some((each) => each.trim() === line)) return;
  const mode = (await stat(target).catch(() => null))?.mode ?? 0o600;
  await replace(target, text === "" ? `${line}\n` : `${line}\n\n${text}`, mode & 0o777);
}
