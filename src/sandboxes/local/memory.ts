import { readFile, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Folder, folderOf, listFolders, readNumber, readState } from "./folder.ts";
import { allProcesses, type Process, signal, withDescendants } from "./processes.ts";

/** Long enough to cost nothing, short enough that a machine seldom runs out of memory meanwhile. */
const LOOK_MS = 2_000;

/** Ends what takes more memory than its sandbox may have, where the kernel does not hold the limit. */
export interface MemoryWatch {
  /** Looks again and again from now on. */
  begin(): void;
  end(): void;
}

/**
 * Looks at the memory of the sandboxes of one data folder. Where a sandbox has more than its limit, the process that has
 * most is killed, as the kernel does it in a control group.
 */
export function watchMemory({
  dataDir,
  everyMs = LOOK_MS,
}: {
  dataDir: string;
  everyMs?: number;
}): MemoryWatch {
  let timer: Timer | null = null;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      await lookAt(dataDir);
    } finally {
      looking = false;
    }
  }

  return {
    begin() {
      // what cannot be read now can be the next time
      timer ??= setInterval(() => void look().catch(() => {}), everyMs);
      timer.unref();
    },
    end() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/** How many processes were killed since they wanted more memory than the limit. */
export async function killedByWatch(folder: Folder): Promise<number> {
  return (await readNumber(folder, KILLS)) ?? 0;
}

const KILLS = "memory-kills";

async function lookAt(dataDir: string): Promise<void> {
  const sandboxes = await Promise.all(
    (await listFolders(dataDir)).map(async (sessionId) => {
      const folder = folderOf(dataDir, sessionId);
      const state = await readState(folder);
      return state?.watchedBytes ? [{ folder, first: state, limit: state.watchedBytes }] : [];
    }),
  );
  if (sandboxes.flat().length === 0) return;
  const all = await allProcesses();
  for (const { folder, first, limit } of sandboxes.flat()) {
    const roots = all.filter(({ pid, started }) => pid === first.pid && started === first.started);
    await hold(folder, withDescendants(all, roots), limit);
  }
}

async function hold(folder: Folder, processes: readonly Process[], limit: number): Promise<void> {
  const quick = await Promise.all(processes.map(({ pid }) => memoryOf(pid)));
  const files = await memoryOfFiles(processes);
  // what processes share is counted for each of them here
  if (sum(quick) + files <= limit) return;
  const exact = await Promise.all(processes.map(({ pid }) => shareOf(pid)));
  if (sum(exact) + files <= limit) return;
  const most = processes[exact.indexOf(Math.max(...exact))];
  if (most === undefined) return;
  signal(most.pid, "SIGKILL");
  await writeFile(join(folder.path, KILLS), `${(await killedByWatch(folder)) + 1}\n`, { mode: 0o600 });
}

/** What a process has in memory that is in no file, in bytes (proc_pid_status(5)). */
async function memoryOf(pid: number): Promise<number> {
  return kilobytes(await read(`/proc/${pid}/status`), /^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm);
}

/** The same, with its share of what several processes have in common (proc_pid_smaps(5)). */
async function shareOf(pid: number): Promise<number> {
  return kilobytes(await read(`/proc/${pid}/smaps_rollup`), /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$/gm);
}

/** Files that are kept in memory: what a sandbox has below /dev, in bytes. */
async function memoryOfFiles(processes: readonly Process[]): Promise<number> {
  // the last to be started is inside for certain
  const inside = processes.at(-1);
  if (inside === undefined) return 0;
  const { blocks, bfree, bsize, type } = await statfs(`/proc/${inside.pid}/root/dev`).catch(() => NO_FILES);
  return type === TMPFS ? (blocks - bfree) * bsize : 0;
}

const NO_FILES = { blocks: 0, bfree: 0, bsize: 0, type: 0 };
/** statfs(2) */
const TMPFS = 0x01021994;

function kilobytes(text: string, lines: RegExp): number {
  return 1024 * sum([...text.matchAll(lines)].map(([, count]) => Number(count)));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

async function read(path: string): Promise<string> {
  return readFile(path, "latin1").catch(() => "");
}
