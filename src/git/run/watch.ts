import { readFile } from "node:fs/promises";
import { setPriority } from "node:os";

export type Limit = "memory" | "disk";

/** Most commands end long before this and are never looked at. */
const FIRST_CHECK_MS = 200;
/** A git that unpacks a large file takes about 1 GB a second. */
const CHECK_EVERY_MS = 100;
const DISK_EVERY_MS = 1_000;
/** Lower than all else on the machine, as `nice` counts. */
const LONG_RUN_NICENESS = 10;
/** Deeper or wider process trees than git's are not walked. */
const PROCESSES_MAX = 64;

/**
 * Looks after a git process that runs for long: gives way to short ones, and calls `stop` when git and its children
 * take too much memory (Linux only; elsewhere deadlines alone apply) or too much of the disk.
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
 * Bytes of memory of a process and its descendants that no file stands behind: mapped packs do not count.
 * 0 where /proc does not tell.
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
