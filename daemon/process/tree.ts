import { readdir, readFile } from "node:fs/promises";
import { sendSignal } from "./children.ts";

interface Process {
  pid: number;
  parent: number;
  group: number;
  name: string;
  /** Processor time of its own and of its children that have ended, in clock ticks: proc_pid_stat(5). */
  ticks: number;
}

/** USER_HZ, which Linux has fixed for programs. */
const TICK_MS = 10;

/** The interval at which the process list is read. */
const CHECK_MS = 20;
/** The time to end after SIGTERM, unless the caller gives one; then SIGKILL is sent repeatedly, since a fork bomb starts more processes. */
const TERM_MS = 1_000;
const KILL_MS = 4_000;

/**
 * Ends all descendants of `root`, including those that left its process group, except `kept` and their descendants. SIGTERM is
 * sent once: programs that a process starts to finish its work are not interrupted.
 * @returns whether all have ended
 */
export async function endDescendants(
  root: number,
  kept: () => ReadonlySet<number>,
  termMs = TERM_MS,
): Promise<boolean> {
  for (const [signal, ms] of [
    ["SIGTERM", termMs],
    ["SIGKILL", KILL_MS],
  ] as const) {
    let isFirst = true;
    for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(CHECK_MS)) {
      const left = descendantsOf(await allProcesses(), root, kept());
      if (left.length === 0) return true;
      if (signal === "SIGKILL" || isFirst) for (const pid of left) sendSignal(pid, signal);
      isFirst = false;
    }
  }
  return false;
}

/**
 * Signals the processes of a program's group, but not the wrapper around it: that would end at once, and its exit status would
 * not be the program's.
 * @param leader the wrapper, or the program itself
 */
export async function signalProgram(leader: number, signal: NodeJS.Signals): Promise<void> {
  const all = await allProcesses();
  const found = all.filter(({ group, name }) => group === leader && name !== WRAPPER);
  for (const { pid } of found) sendSignal(pid, signal);
}

/** bubblewrap, the only wrapper that stays beside its program. */
const WRAPPER = "bwrap";

/** Ends a process and its descendants: SIGHUP, and SIGKILL to those that are left after `graceMs`. */
export async function hangUp(leader: number, graceMs: number): Promise<void> {
  const all = await allProcesses();
  const pids = [leader, ...descendantsOf(all, leader, new Set())];
  const wrappers = new Set(all.filter(({ name }) => name === WRAPPER).map(({ pid }) => pid));
  for (const pid of pids) if (!wrappers.has(pid)) sendSignal(pid, "SIGHUP");
  for (const end = performance.now() + graceMs; performance.now() < end; await Bun.sleep(CHECK_MS)) {
    const left = new Set((await allProcesses()).map(({ pid }) => pid));
    if (!pids.some((pid) => left.has(pid))) return;
  }
  for (const pid of [...pids, ...(await listDescendants(leader))]) sendSignal(pid, "SIGKILL");
}

/** The descendants of a process that have not ended, each after its parent. */
export async function listDescendants(root: number): Promise<number[]> {
  return descendantsOf(await allProcesses(), root, new Set());
}

/**
 * Milliseconds of processor time of all descendants of a process that have not ended, except `left` and its descendants. 0 if the
 * system has no /proc.
 */
export async function timeOfDescendants(root: number, left: number | null = null): Promise<number> {
  const all = await allProcesses();
  return timeOf(all, descendantsOf(all, root, new Set(left === null ? [] : [left])));
}

/** The same with the process itself. */
export async function timeOfTree(root: number): Promise<number> {
  const all = await allProcesses();
  return timeOf(all, [root, ...descendantsOf(all, root, new Set())]);
}

function timeOf(all: readonly Process[], pids: readonly number[]): number {
  const found = new Set(pids);
  return all.reduce((sum, { pid, ticks }) => sum + (found.has(pid) ? ticks : 0), 0) * TICK_MS;
}

function descendantsOf(all: readonly Process[], root: number, kept: ReadonlySet<number>): number[] {
  const children = Map.groupBy(all, ({ parent }) => parent);
  const found: number[] = [];
  const queue = [root];
  for (const parent of queue) {
    for (const { pid } of children.get(parent) ?? []) {
      if (kept.has(pid)) continue;
      found.push(pid);
      queue.push(pid);
    }
  }
  return found;
}

/** Without zombies. Empty if the system has no /proc. */
async function allProcesses(): Promise<Process[]> {
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/stat`, "latin1").catch(() => "")),
  );
  return stats.flatMap((stat, index) => {
    // the program's name may contain any character, so the fields are counted from its end
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    const [state = "Z", parent = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return [];
    const ticks = rest.slice(...TIMES).reduce((sum, field) => sum + Number(field), 0);
    return [{ pid: Number(names[index]), parent: Number(parent), group: Number(rest[0]), name, ticks }];
  });
}

/** Of utime, stime, cutime and cstime among the fields after the parent's pid. */
const TIMES = [9, 13] as const;
