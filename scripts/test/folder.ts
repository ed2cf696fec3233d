import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeDataFolder } from "../../src/data-folder.ts";

const PREFIX = "svc-test-run-";
const LOCK = "run";
/** A process that was killed goes when what it waits for answers. */
const KILL_MS = 10_000;
const POLL_MS = 50;

export interface RunFolder {
  path: string;
  /** Ends what still runs out of it, and removes it. */
  remove(): Promise<void>;
}

/**
 * Makes a folder for all that a run of the tests writes, and ends and removes what runs have left that were killed. Like
 * /tmp it is open: sandboxes have users of their own.
 * @param onLeft is called with the number of processes for each folder that was left
 */
export async function makeRunFolder(onLeft: (processes: number) => void): Promise<RunFolder> {
  for (const base of new Set([tmpdir(), MEMORY])) {
    if (!existsSync(base)) continue;
    for (const name of readdirSync(base).filter((name) => name.startsWith(PREFIX))) {
      const path = join(base, name);
      if (!isTaken(path)) onLeft(await clear(path));
    }
  }
  const base = hasRoomInMemory() ? MEMORY : tmpdir();
  // it has its name when it has its lock
  const draft = mkdtempSync(join(base, "svc-test-new-"));
  const path = draft.replace("svc-test-new-", PREFIX);
  const unlock = takeDataFolder(join(draft, LOCK));
  locks.push(unlock);
  renameSync(draft, path);
  chmodSync(path, 0o1777);
  return {
    path,
    async remove() {
      await clear(path);
      unlock();
    },
  };
}

/** Files in memory. Those of tests are many and live for moments, which disks are slow at. */
const MEMORY = "/dev/shm";
/** A whole run writes up to 2.5 GB; the rest is for its processes. */
const ROOM = { folder: 6 * 1024 ** 3, memory: 12 * 1024 ** 3 };

function hasRoomInMemory(): boolean {
  // an explicit TMPDIR wins
  if (process.platform !== "linux" || process.env["TMPDIR"] || !existsSync(MEMORY)) return false;
  const options = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(read("/proc/self/mounts"))?.[1];
  if (options === undefined || options.split(",").includes("noexec")) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  const available = Number(/^MemAvailable:\s+(\d+) kB$/m.exec(read("/proc/meminfo"))?.[1] ?? 0) * 1024;
  return bavail * bsize >= ROOM.folder && available >= ROOM.memory;
}

/** Of this process; a lock that nobody refers to is collected, and given up. */
const locks: (() => void)[] = [];

/**
 * Whether a living run has this folder, also one in another pid namespace: it holds the folder's lock. What cannot be
 * locked, such as another user's folder, is left alone.
 */
function isTaken(path: string): boolean {
  try {
    takeDataFolder(join(path, LOCK))();
    return false;
  } catch {
    return true;
  }
}

/** @returns how many processes were at work in it */
async function clear(path: string): Promise<number> {
  const found = new Set<number>();
  for (const end = performance.now() + KILL_MS; performance.now() < end; await Bun.sleep(POLL_MS)) {
    const left = processesIn(path);
    if (left.length === 0) break;
    for (const pid of left) {
      found.add(pid);
      kill(pid);
    }
  }
  for (const mount of mountsBelow(path).reverse()) Bun.spawnSync(["umount", "--lazy", mount]);
  Bun.spawnSync(["chmod", "-R", "u+rwX", path], { stderr: "ignore" });
  Bun.spawnSync(["rm", "-rf", "--one-file-system", path], { stderr: "ignore" });
  return found.size;
}

/** Those that name the folder in their command or environment, or stand in it, and all that they have started. */
function processesIn(path: string): number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = new Set(pids.filter((pid) => isIn(path, pid)).map(Number));
  const parents = pids.map((pid) => [Number(pid), parentOf(pid)] as const);
  // what is in a sandbox names nothing of the machine that it runs on
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  found.delete(process.pid);
  return [...found];
}

function isIn(path: string, pid: string): boolean {
  if (Number(pid) === process.pid) return false;
  const names = (text: string) => text.includes(`${path}/`) || text.includes(`=${path}\0`);
  const where = link(`/proc/${pid}/cwd`);
  if (where === path || where.startsWith(`${path}/`)) return true;
  return names(read(`/proc/${pid}/cmdline`)) || names(read(`/proc/${pid}/environ`));
}

function parentOf(pid: string): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has just ended
  }
}

function mountsBelow(path: string): string[] {
  return read("/proc/self/mounts")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "")
    .filter((mount) => mount.startsWith(`${path}/`));
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
