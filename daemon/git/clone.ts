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
/** The largest repositories on slow networks; a dead connection is detected long before. */
const CLONE_MS = 60 * 60_000;
/** The prefix of staging folders, by which those of interrupted boots are found. */
const STAGING = ".svc-boot-";

/**
 * Clones the session's branch into the workspace, and fetches the project's agents, each with retries and backoff. The
 * workspace is emptied only once its clone is complete. After a failed attempt, `context` has the error.
 * @returns null if the signal aborts
 */
export async function cloneWithRetries(
  context: CloneContext,
  signal: AbortSignal,
): Promise<AgentConfig | null> {
  const retried = <T>(work: () => Promise<T>) => retry(context, work, signal);
  const [config] = await Promise.all([
    retried(() => fetchAgentConfig(context.settings, signal)),
    retried(() => clone(context, signal)),
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
      context.log.info(`${message} Retrying in ${pause / 1000} s.`);
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

/** Settings of the agent's git, as `key=value`: its identity, and a credential helper, so that no credential is stored. */
function configuration({ repoUrl, agent, sessionId }: Settings): string[] {
  const { origin } = new URL(repoUrl);
  const helper = `!${[...thisProgram(), "git-credential"].map(shellWord).join(" ")}`;
  return [
    `user.name=${agent ?? "svc agent"}`,
    `user.email=${sessionId}@sessions.svc.invalid`,
    // a credential helper of the image would store the credential
    `credential.${origin}.helper=`,
    `credential.${origin}.helper=${helper}`,
    `credential.${origin}.useHttpPath=true`,
  ];
}

/** Moves the files, not the folder: the workspace may be a volume. Must complete before the runtime starts. */
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
    return new CloneError("git is not installed in this sandbox: add it to the image.", true);
  if (code === "ENOSPC")
    return new CloneError("The sandbox's disk is full: the repository does not fit.", false);
  return new CloneError(`The workspace could not be prepared (${code || "unknown error"}).`, false);
}
