import { readdir, readFile, readlink } from "node:fs/promises";
import type { Log } from "./options.ts";

/** Time for git to remove its own locks and temporary files. */
const GRACE_MS = 1_000;
const POLL_MS = 20;
/** A killed process ends only when the disk or the network that it waits for responds. */
const LIMIT_MS = 30_000;
/** A process that was just forked may be missed while its parent ends. */
const QUIET_SCANS = 2;
/** Execve(2) takes milliseconds. What has no arguments for longer is another program, such as a process of gVisor. */
const EXEC_MS = 1_000;

/**
 * Ends the git processes of an earlier server on this data directory that was killed: one that waits for its host could
 * otherwise write to the mirror later. They are identified by their HOME. Does nothing without /proc.
 * @param home the directory that is HOME of every git process of this data directory, and of no other
 */
export async function endOrphans(home: string, log: Log): Promise<void> {
  const seen = new Set<number>();
  const unknownSince = new Map<string, number>();
  let since: number | null = null;
  for (let quiet = 0; quiet < QUIET_SCANS; await Bun.sleep(POLL_MS)) {
    const { found, unknown } = await processesAt(home);
    const now = performance.now();
    for (const pid of unknown) if (!unknownSince.has(pid)) unknownSince.set(pid, now);
    const inExec = unknown.filter((pid) => now - (unknownSince.get(pid) ?? now) < EXEC_MS);
    quiet = found.length + inExec.length > 0 ? 0 : quiet + 1;
    if (quiet > 0) continue;
    since ??= now;
    const passed = now - since;
    if (passed > LIMIT_MS) break;
    for (const pid of found) {
      if (passed > GRACE_MS) signal(pid, "SIGKILL");
      else if (!seen.has(pid)) signal(pid, "SIGTERM");
      seen.add(pid);
    }
  }
  if (seen.size > 0) log.warn({ processes: seen.size }, "ended git processes of a server that was killed");
}

/** The processes with this home, and those whose home is unknown, since they may be within execve(2). */
async function processesAt(home: string): Promise<{ found: number[]; unknown: string[] }> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(pids.map((pid) => read(pid, "environ")));
  const found = pids.filter((_, index) => `\0${texts[index]}`.includes(`\0HOME=${home}\0`)).map(Number);
  const silent = pids.filter((_, index) => texts[index] === "");
  const mayBeInExec = await Promise.all(silent.map(isInExec));
  return { found, unknown: silent.filter((_, index) => mayBeInExec[index]) };
}

/** Within execve(2) a process has a program, but no arguments or environment yet; a kernel thread has no program. */
async function isInExec(pid: string): Promise<boolean> {
  if ((await read(pid, "cmdline")) !== "") return false;
  return await readlink(`/proc/${pid}/exe`).then(
    () => true,
    () => false,
  );
}

async function read(pid: string, file: string): Promise<string> {
  return await readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
}

/** Signals a process, or a group by its negative id; one that has just ended is no error. */
export function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has just ended
  }
}
