import { randomBytes } from "node:crypto";
import { chown, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DaemonHealth } from "../../src/contract/daemon.ts";
import type { Log } from "../log.ts";
import type { Children, Command } from "../process/children.ts";
import { run } from "../process/run.ts";
import type { Settings } from "../settings.ts";
import { shellWord, thisProgram } from "../this-program.ts";
import { type AgentConfig, fetchAgentConfig } from "./agent-config.ts";
import { CloneError } from "./clone-error.ts";
import { type Credential, fetchCredential } from "./credential.ts";
import { gitEnvironment, readFailure } from "./git.ts";

interface CloneContext {
  settings: Settings;
  children: Children;
  log: Log;
  clone: DaemonHealth["clone"];
  error: DaemonHealth["error"] | null;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** The largest repositories on slow networks; a dead connection is noticed long before. */
const CLONE_MS = 60 * 60_000;
/** Folders of boots that were cut off are known by this. */
const STAGING = ".svc-boot-";

/**
 * Clones the session's branch into the workspace, and gets the project's agents, each again and again until it is there.
 * What was in the workspace is gone then, and only then. After each try that failed, `context` says why.
 * @returns null when the signal has ended it
 */
export async function cloneWithRetries(
  context: CloneContext,
  signal: AbortSignal,
): Promise<AgentConfig | null> {
  const again = <T>(work: () => Promise<T>) => retry(context, work, signal);
  const [config] = await Promise.all([
    again(() => fetchAgentConfig(context.settings, signal)),
    again(() => clone(context, signal)),
  ]);
  return signal.aborted ? null : config;
}

async function retry<T>(
  context: CloneContext,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | null> {
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return null;
      const { message, permanent } = asCloneError(error);
      context.log.info(`${message} The next try is in ${pause / 1000} s.`);
      context.clone = "failed";
      context.error = { kind: "clone", message, permanent };
    }
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
  return null;
}

async function clone(context: CloneContext, signal: AbortSignal): Promise<void> {
  const { workspace, user, token, branch } = context.settings;
  const begun = performance.now();
  await mkdir(workspace, { recursive: true });
  for (const name of await readdir(workspace))
    if (name.startsWith(STAGING)) await remove(join(workspace, name));
  const credential = await fetchCredential(context.settings, token, signal);
  const name = `${STAGING}${randomBytes(6).toString("hex")}`;
  const staging = join(workspace, name);
  await mkdir(staging, { mode: 0o700 });
  try {
    if (user) for (const folder of [workspace, staging]) await chown(folder, user.uid, user.gid);
    await cloneInto(context, staging, credential, signal);
    if (signal.aborted) return;
    await moveIntoWorkspace(workspace, name);
  } finally {
    await remove(staging);
  }
  context.log.info(`cloned ${branch} in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}

async function cloneInto(
  context: CloneContext,
  staging: string,
  credential: Credential,
  signal: AbortSignal,
): Promise<void> {
  const { repoUrl, branch } = context.settings;
  const settings = configuration(context.settings).flatMap((setting) => ["--config", setting]);
  const argv = ["git", "clone", "--quiet", "--template=", "--no-recurse-submodules", ...settings];
  const command = git(context, staging, [...argv, `--branch=${branch}`, "--", repoUrl, "clone"], credential);
  const ran = await run(context.children, command, CLONE_MS, signal);
  if (ran.code === 0) return;
  const { reason, permanent } = readFailure(ran.stderr, credential);
  const why = ran.late ? `it took longer than ${CLONE_MS / 60_000} minutes` : reason;
  throw new CloneError(`The repository could not be cloned: ${why}.`, permanent && !ran.late);
}

/** Says to the agent's git, as `key=value`, who commits, and by which program it gets its credentials: none is stored. */
function configuration({ repoUrl, agent, sessionId }: Settings): string[] {
  const { origin } = new URL(repoUrl);
  const helper = `!${[...thisProgram(), "git-credential"].map(shellWord).join(" ")}`;
  return [
    `user.name=${agent ?? "svc agent"}`,
    `user.email=${sessionId}@sessions.svc.invalid`,
    // whatever helper the image brings would keep what it is told
    `credential.${origin}.helper=`,
    `credential.${origin}.helper=${helper}`,
    `credential.${origin}.useHttpPath=true`,
  ];
}

/** Nobody works in the workspace before this is over. What is there may be a volume, whose folder cannot be replaced. */
async function moveIntoWorkspace(workspace: string, staging: string): Promise<void> {
  for (const name of await readdir(workspace)) if (name !== staging) await remove(join(workspace, name));
  const clone = join(workspace, staging, "clone");
  for (const name of await readdir(clone)) await rename(join(clone, name), join(workspace, name));
}

function git(
  { settings }: CloneContext,
  directory: string,
  argv: readonly string[],
  credential: Credential | null,
): Command {
  return { argv, environment: gitEnvironment(settings, credential), directory, ...settings.user };
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

function asCloneError(error: unknown): CloneError {
  if (error instanceof CloneError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT")
    return new CloneError("git is not installed in this sandbox: its image needs it.", true);
  if (code === "ENOSPC")
    return new CloneError("The sandbox's disk is full: the repository does not fit.", false);
  return new CloneError(`The workspace could not be prepared (${code || "unknown error"}).`, false);
}
