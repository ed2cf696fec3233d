import { readdir, readFile } from "node:fs/promises";
import { sendSignal } from "./children.ts";

interface Process {
  pid: number;
  parent: number;
}

/** Between two looks: what was just killed needs a moment to be gone. */
const CHECK_MS = 20;
/** What is asked to end gets so long; then it is killed, as often as it takes a fork bomb's rests to be gone. */
const TERM_MS = 1_000;
const KILL_MS = 4_000;

/**
 * Ends every process that descends from `root`, also those that left its process group, but for `kept` and theirs.
 * @returns whether nothing is left
 */
export async function endDescendants(root: number, kept: () => ReadonlySet<number>): Promise<boolean> {
  for (const [signal, ms] of [
    ["SIGTERM", TERM_MS],
    ["SIGKILL", KILL_MS],
  ] as const) {
    const asked = new Set<number>();
    for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(CHECK_MS)) {
      const left = descendantsOf(await allProcesses(), root, kept());
      if (left.length === 0) return true;
      for (const pid of left) {
        if (signal === "SIGTERM" && asked.has(pid)) continue;
        asked.add(pid);
        sendSignal(pid, signal);
      }
    }
  }
  return false;
}

/** Those that descend from a process and have not ended, each after its parent. */
export async function listDescendants(root: number): Promise<number[]> {
  return descendantsOf(await allProcesses(), root, new Set());
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

/** Without those that have ended and wait for their parent. Where there is no /proc, none. */
async function allProcesses(): Promise<Process[]> {
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(
    names.map((name) => readFile(`/proc/${name}/stat`, "latin1").catch(() => "")),
  );
  return stats.flatMap((stat, index) => {
    // the name of the program may hold anything, so the fields are counted from its end
    const [state = "Z", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? [] : [{ pid: Number(names[index]), parent: Number(parent) }];
  });
}
