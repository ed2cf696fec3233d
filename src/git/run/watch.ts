import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { processTree } from "./process-tree.ts";

export type Limit = "memory" | "disk";

/** Most commands end before the first check. */
const FIRST_CHECK_MS = 200;
/** A git that unpacks a large file takes about 1 GB a second. */
const CHECK_EVERY_MS = 100;
const DISK_EVERY_MS = 1_000;
/** The priority of long runs, lower than that of everything else on the machine. */
const LONG_RUN_NICENESS = 10;

/**
 * Limits a git process that runs for long: lowers its priority, and calls `stop` when git and its children take too much
 * memory (Linux only; elsewhere only deadlines apply) or disk.
 * @returns ends the watch
 */
export function watch(
  pid: number,
  limits: { memory?: number; diskFull?: () => Promise<boolean> },
  stop: (why: Limit) => void,
): () => void {
  let ended = false;
  let nextDiskCheck = 0;
  let timer = setTimeout(begin, FIRST_CHECK_MS);
  return () => {
    ended = true;
    clearTimeout(timer);
  };

  function begin(): void {
    try {
      setPriority(pid, LONG_RUN_NICENESS);
    } catch {
      // it has just ended
    }
    void check();
  }

  async function check(): Promise<void> {
    if (limits.memory && (await anonymousMemory(pid)) > limits.memory) stop("memory");
    if (limits.diskFull && performance.now() > nextDiskCheck) {
      nextDiskCheck = performance.now() + DISK_EVERY_MS;
      if (await limits.diskFull()) stop("disk");
    }
    if (!ended) timer = setTimeout(() => void check(), CHECK_EVERY_MS);
  }
}

/**
 * Bytes of anonymous memory of a process and its descendants, without mapped packs. 0 without /proc.
 */
async function anonymousMemory(root: number): Promise<number> {
  const sizes = ((await processTree(root)) ?? []).map(async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
    return Number(/^RssAnon:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
}
