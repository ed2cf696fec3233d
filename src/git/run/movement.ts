import { readFile } from "node:fs/promises";
import { processTree } from "./process-tree.ts";

/** How much a git process and its children have done. */
export interface Done {
  /** Bytes that they have read and written: from files, pipes, and between each other what came from the network. */
  bytes: number;
  /** Processor time in milliseconds. */
  workedMs: number;
}

/** The parts of the system that a watch looks at. Times in milliseconds. */
export interface Observed {
  now(): number;
  /** Null where the system does not say. */
  done(root: number): Promise<Done | null>;
}

/** Of the time since the last movement: git waits for a connection in a loop, which takes less. */
const WORK_SHARE = 0.01;
const WORK_MS = 50;
const LONGEST_LOOK_MS = 1_000;

/**
 * Watches whether a git process moves: on a busy machine or a slow network it is late, but reads, writes or computes
 * meanwhile. Where the system does not say (it has no /proc), only deadlines apply.
 * @param stuck called once, after `stillMs` without movement
 * @returns ends the watch
 */
export function watchMovement(
  root: number,
  stillMs: number,
  stuck: () => void,
  observed: Observed = SYSTEM,
): () => void {
  let isOver = false;
  let movedAt = observed.now();
  let last: Done | null = null;
  const lookMs = Math.min(stillMs / 4, LONGEST_LOOK_MS);
  let timer = setTimeout(() => void look(), lookMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };

  async function look(): Promise<void> {
    const done = await observed.done(root);
    if (isOver || done === null) return;
    const now = observed.now();
    if (last === null || hasMoved(last, done, now - movedAt)) {
      last = done;
      movedAt = now;
    } else if (now - movedAt >= stillMs) {
      isOver = true;
      return stuck();
    }
    timer = setTimeout(() => void look(), lookMs);
  }
}

/** The sums are less when children have ended, which is movement, too. */
function hasMoved(before: Done, after: Done, ms: number): boolean {
  if (after.bytes !== before.bytes || after.workedMs < before.workedMs) return true;
  return after.workedMs - before.workedMs > Math.max(WORK_MS, ms * WORK_SHARE);
}

/** USER_HZ, which Linux has fixed for programs. */
const TICK_MS = 10;

const SYSTEM: Observed = {
  now: () => performance.now(),
  async done(root) {
    const pids = await processTree(root);
    if (pids === null) return null;
    const parts = await Promise.all(pids.map(doneBy));
    return parts.reduce((sum, part) => ({
      bytes: sum.bytes + part.bytes,
      workedMs: sum.workedMs + part.workedMs,
    }));
  },
};

/** proc_pid_io(5) and proc_pid_stat(5). A process that has just ended has done nothing. */
async function doneBy(pid: number): Promise<Done> {
  const [io, stat] = await Promise.all(
    ["io", "stat"].map((name) => readFile(`/proc/${pid}/${name}`, "latin1").catch(() => "")),
  );
  const [read, written] = ["rchar", "wchar"].map((name) =>
    Number(new RegExp(`^${name}: (\\d+)`, "m").exec(io ?? "")?.[1] ?? 0),
  );
  // the program's name may contain any character, so the fields are counted from its end
  const fields = (stat ?? "").slice((stat ?? "").lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  return { bytes: (read ?? 0) + (written ?? 0), workedMs: ticks * TICK_MS };
}
