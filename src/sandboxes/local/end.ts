import { setTimeout as sleep } from "node:timers/promises";
import { type ProviderOptions, SandboxError } from "../provider.ts";
import { removeCgroups } from "./cgroup.ts";
import { findSandbox } from "./find.ts";
import { type Folder, readCgroups, readNumber, readState, removeFolder } from "./folder.ts";
import { nthInside, processesOf, signal } from "./processes.ts";

const POLL_MS = 20;
/** A process that was killed and does not go waits for a disk or a network; it goes when that answers. */
const KILL_MS = 10_000;
/** In bubblewrap's pid namespace: the first is its own. */
const DAEMON_INSIDE = 2;

/** The value by which a sandbox's processes are known. */
export function markOf({ installation }: Pick<ProviderOptions, "installation">, sessionId: string): string {
  return `${installation}/${sessionId}`;
}

/**
 * Ends whatever there is of a sandbox: its daemon is asked to end, and after `graceMs` every process that is left is
 * killed. Then its folder is removed.
 * @throws SandboxError when a process cannot be killed, or a file cannot be removed
 */
export async function endSandbox(
  options: Pick<ProviderOptions, "installation">,
  folder: Folder,
  sessionId: string,
  graceMs: number,
): Promise<void> {
  const state = await readState(folder);
  if (state && state.installation !== options.installation) return;
  const find = () => processesOf(markOf(options, sessionId), state);
  const sandbox = await findSandbox(options, folder, sessionId);
  if (sandbox?.state === "running" && graceMs > 0) {
    const processes = await find();
    const daemon = (await nthInside(processes, DAEMON_INSIDE))?.pid ?? (await readNumber(folder, "daemon"));
    // the file may be old, and the pid another's
    if (daemon !== null && processes.some(({ pid }) => pid === daemon)) signal(daemon, "SIGTERM");
    for (const end = performance.now() + graceMs; performance.now() < end; await sleep(POLL_MS)) {
      if ((await findSandbox(options, folder, sessionId))?.state !== "running") break;
    }
  }
  await killAll(find);
  await removeCgroups(await readCgroups(folder));
  await removeFolder(folder);
}

async function killAll(find: () => ReturnType<typeof processesOf>): Promise<void> {
  const end = performance.now() + KILL_MS;
  for (let left = await find(); left.length > 0; left = await find()) {
    if (performance.now() > end) throw new SandboxError("A process of the sandbox cannot be ended.");
    for (const { pid } of left) signal(pid, "SIGKILL");
    await sleep(POLL_MS);
  }
}
