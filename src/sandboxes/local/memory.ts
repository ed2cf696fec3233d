import { statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Folder, folderOf, listFolders, readNumber, readState } from "./folder.ts";
import { allProcesses, type Process, readKernelFile, signal, withDescendants } from "./processes.ts";

/** A poll of a few sandboxes takes milliseconds; few programs exhaust a machine within this time. */
export const MEMORY_POLL_S = 2;

/** Enforces memory limits where svc cannot create control groups. */
export interface MemoryGuard {
  /** Starts polling. */
  start(): void;
  stop(): void;
}

/**
 * Polls the memory of all sandboxes in a data folder, and kills the largest process of a sandbox that exceeds its limit,
 * as the kernel does in a control group.
 */
export function createMemoryGuard(dataDir: string): MemoryGuard {
  let timer: Timer | null = null;
  let polling = false;

  async function poll(): Promise<void> {
    if (polling) return;
    polling = true;
    try {
      await pollAll(dataDir);
    } finally {
      polling = false;
    }
  }

  return {
    start() {
      // the next poll retries what fails
      timer ??= setInterval(() => void poll().catch(() => {}), MEMORY_POLL_S * 1000);
      timer.unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}

/** The number of processes that polling has killed. */
export async function countPolledKills(folder: Folder): Promise<number> {
  return (await readNumber(folder, KILLS)) ?? 0;
}

const KILLS = "memory-kills";

async function pollAll(dataDir: string): Promise<void> {
  const polled: { folder: Folder; first: Pick<Process, "pid" | "started">; limit: number }[] = [];
  for (const sessionId of await listFolders(dataDir)) {
    const folder = folderOf(dataDir, sessionId);
    const state = await readState(folder);
    if (state?.polledBytes) polled.push({ folder, first: state, limit: state.polledBytes });
  }
  const all = polled.length > 0 ? await allProcesses() : [];
  for (const { folder, first, limit } of polled) {
    const roots = all.filter(({ pid, started }) => pid === first.pid && started === first.started);
    await enforce(folder, withDescendants(all, roots), limit);
  }
}

async function enforce(folder: Folder, processes: readonly Process[], limit: number): Promise<void> {
  const estimates = await Promise.all(processes.map(({ pid }) => memoryOf(pid)));
  const files = await memoryOfFiles(processes);
  // an upper bound: counts shared memory once for each process
  if (sum(estimates) + files <= limit) return;
  const shares = await Promise.all(processes.map(({ pid }) => shareOf(pid)));
  if (sum(shares) + files <= limit) return;
  const largest = processes[shares.indexOf(Math.max(...shares))];
  if (largest === undefined) return;
  signal(largest.pid, "SIGKILL");
  await writeFile(join(folder.path, KILLS), `${(await countPolledKills(folder)) + 1}\n`, { mode: 0o600 });
}

/** Memory of a process that is not backed by a file, in bytes (proc_pid_status(5)). */
async function memoryOf(pid: number): Promise<number> {
  return kilobytes(
    await readKernelFile(`/proc/${pid}/status`),
    /^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm,
  );
}

/** The same, with its proportional share of shared memory (proc_pid_smaps(5)). */
async function shareOf(pid: number): Promise<number> {
  return kilobytes(
    await readKernelFile(`/proc/${pid}/smaps_rollup`),
    /^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$/gm,
  );
}

/** Size of the files on the tmpfs at /dev of a sandbox, which holds /dev/shm, in bytes. */
async function memoryOfFiles(processes: readonly Process[]): Promise<number> {
  // the first processes, the supervisor and bubblewrap, are outside
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
