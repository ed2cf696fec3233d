import { readdirSync, readFileSync } from "node:fs";
import { until } from "./until.ts";

/** A process of this machine, from /proc; its command line and environment are read on access. */
export interface ProcessOf {
  pid: number;
  parent: number;
  command: string;
  /** NAME=value; empty when it is another user's or has ended. */
  environment: string[];
}

/** The processes that run now, or those of them with these ids; those that have ended and wait for their parent are left out. */
export function allProcesses(ids: readonly number[] = processIds()): ProcessOf[] {
  return ids.flatMap((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // without a file, there is no process
    if (state === "" || state === "X" || (state === "Z" && threadsOf(pid) < 2)) return [];
    return {
      pid,
      parent: Number(parent),
      get command() {
        return commandOf(pid);
      },
      get environment() {
        return environmentOf(pid);
      },
    };
  });
}

/** The processes with this text in their environment. Few have it, so that no more is read of the others. */
export function processesWith(text: string): ProcessOf[] {
  return allProcesses(processIds().filter((pid) => read(`/proc/${pid}/environ`).includes(text)));
}

/** A process whose first thread has ended keeps its files and locks until the last thread ends. */
function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

export function processIds(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** The command line, with blanks between its words. */
export function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
}

export function environmentOf(pid: number): string[] {
  return read(`/proc/${pid}/environ`).split("\0");
}

/** What proc_pid_status(5) describes; empty when the process has ended. */
export function statusOf(pid: number): string {
  return read(`/proc/${pid}/status`);
}

/** All descendants of a process. */
export function descendantsOf(pid: number): ProcessOf[] {
  const all = allProcesses();
  const found = [pid];
  for (const parent of found)
    found.push(...all.filter((process) => process.parent === parent).map((process) => process.pid));
  return all.filter((process) => process.pid !== pid && found.includes(process.pid));
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Kills processes that a test has found, some of which may end with others. @throws if there are none */
export function killAll(found: readonly { pid: number }[]): void {
  if (found.length === 0) throw new Error("there is no process to kill");
  for (const { pid } of found) killIfThere(pid);
}

/**
 * Kills processes and waits until their sockets and files are closed: a process that is exiting has no command line and
 * no environment any more, but its sockets still accept connections.
 */
export async function killAllAndWait(found: readonly { pid: number }[]): Promise<void> {
  const pids = found.map(({ pid }) => pid);
  killAll(found);
  await until("they have exited", () => allProcesses(pids).length === 0);
}

/** Kills a process that a test has found, which may have ended since. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has just ended
  }
}

/** Kills a process that a test has found. @throws if there is none: 0 would kill this process's group */
export function killFound(pid: number | null | undefined, signal: NodeJS.Signals): void {
  if (!pid) throw new Error("there is no process to kill");
  process.kill(pid, signal);
}
