import { setTimeout as sleep } from "node:timers/promises";
import { type ProviderOptions, SandboxError } from "../provider.ts";
import { removeCgroups } from "./cgroup.ts";
import { findSandbox } from "./find.ts";
import { type Folder, readCgroups, readNumber, readState, removeFolder } from "./folder.ts";
import { findByInnerPid, processesOf, signal } from "./processes.ts";

const POLL_MS = 20;
/** A killed process can take as long to end as its disk or network needs to respond. */
const KILL_MS = 10_000;
/** The daemon's pid in bubblewrap's pid namespace, in which bubblewrap itself has pid 1. */
const DAEMON_PID = 2;

/** The value of `MARK` that identifies a sandbox's processes. */
export function markOf({ installation }: Pick<ProviderOptions, "installation">, sessionId: string): string {
  return `${installation}/${sessionId}`;
}

/**
 * Ends a sandbox: its daemon gets SIGTERM, and after `graceMs` all remaining processes get SIGKILL. Then its control groups
 * and its folder are removed.
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
    const daemon = (await findByInnerPid(processes, DAEMON_PID))?.pid ?? (await readNumber(folder, "daemon"));
    // the file may be stale, and the pid reused
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
    if (performance.now() > end) throw new SandboxError("A process of the sandbox cannot be killed.");
    for (const { pid } of left) signal(pid, "SIGKILL");
    await sleep(POLL_MS);
  }
}
