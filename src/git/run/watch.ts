import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";

export type Limit = "memory" | "disk";

/** Most commands end before the first check. */
const FIRST_CHECK_MS = 200;
/** A git that unpacks a large file takes about 1 GB a second. */
const CHECK_EVERY_MS = 100;
const DISK_EVERY_MS = 1_000;
/** The priority of long runs, lower than that of everything else on the machine. */
const LONG_RUN_NICENESS = 10;
/** Larger process trees are not measured; git's are smaller. */
const PROCESSES_MAX = 64;

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
  if (process.platform !== "linux") return 0;
  const pids = [root];
  let bytes = 0;
  for (let index = 0; index < pids.length && index < PROCESSES_MAX; index++) {
    const directory = `/proc/${pids[index]}`;
    const [status, children] = await Promise.all([
      readFile(`${directory}/status`, "latin1").catch(() => ""),
      readFile(`${directory}/task/${pids[index]}/children`, "latin1").catch(() => ""),
    ]);
    bytes += Number(/^RssAnon:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
    for (const child of children.split(" ")) if (child) pids.push(Number(child));
  }
  return bytes;
}
