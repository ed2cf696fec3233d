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
import { lockDataFolder } from "../../src/data-folder.ts";

const PREFIX = "svc-test-run-";
const LOCK = "run";
/** A killed process exits only after a blocking system call returns. */
const KILL_MS = 10_000;
const POLL_MS = 50;

export interface RunFolder {
  path: string;
  /** Kills the processes that use the folder, and removes it. */
  remove(): Promise<void>;
}

/**
 * Creates the temporary folder of a test run, and cleans up after runs that were killed. Like /tmp it is writable for all
 * users: sandboxes have their own users.
 * @param onLeft called for each folder of a killed run, with the number of its processes
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
  // it gets its final name after it is locked
  const draft = mkdtempSync(join(base, "svc-test-new-"));
  const path = draft.replace("svc-test-new-", PREFIX);
  const unlock = lockDataFolder(join(draft, LOCK));
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

/** A file system in memory: tests create many short-lived files. */
const MEMORY = "/dev/shm";
/** A full run writes up to 2.5 GB; the rest is for its processes. */
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

/** The locks of this process. A lock without a reference would be garbage-collected and released. */
const locks: (() => void)[] = [];

/**
 * Whether a running test run uses this folder: it holds the lock, also from another pid namespace. Folders that cannot be
 * locked, such as those of other users, count as used.
 */
function isTaken(path: string): boolean {
  try {
    lockDataFolder(join(path, LOCK))();
    return false;
  } catch {
    return true;
  }
}

/** @returns the number of its processes */
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

/** The processes that have the folder in their command, environment or working directory, and their descendants. */
function processesIn(path: string): number[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = new Set(pids.filter((pid) => isIn(path, pid)).map(Number));
  const parents = pids.map((pid) => [Number(pid), parentOf(pid)] as const);
  // processes in a sandbox have no paths of the host
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
    // it exited meanwhile
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
