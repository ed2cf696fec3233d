import { readdir, readFile, readlink } from "node:fs/promises";
import type { Log } from "./options.ts";

/** Time for git to remove its own locks and temporary files. */
const GRACE_MS = 1_000;
const POLL_MS = 20;
/** A killed process ends only when the disk or the network that it waits for responds. */
const LIMIT_MS = 30_000;
/** A process that was just forked may be missed while its parent ends. */
const QUIET_SCANS = 2;

/**
 * Ends the git processes of an earlier server on this data directory that was killed: one that waits for its host could
 * otherwise write to the mirror later. They are identified by their HOME. Does nothing without /proc.
 * @param home the directory that is HOME of every git process of this data directory, and of no other
 */
export async function endOrphans(home: string, log: Log): Promise<void> {
  const seen = new Set<number>();
  let since: number | null = null;
  for (let quiet = 0; quiet < QUIET_SCANS; await Bun.sleep(POLL_MS)) {
    const { found, unknown } = await processesAt(home);
    quiet = found.length + unknown > 0 ? 0 : quiet + 1;
    if (quiet > 0) continue;
    since ??= performance.now();
    const passed = performance.now() - since;
    if (passed > LIMIT_MS) break;
    for (const pid of found) {
      if (passed > GRACE_MS) signal(pid, "SIGKILL");
      else if (!seen.has(pid)) signal(pid, "SIGTERM");
      seen.add(pid);
    }
  }
  if (seen.size > 0) log.warn({ processes: seen.size }, "ended git processes of a server that was killed");
}

/** The processes with this home, and the number of those that are within execve(2), so that their home is unknown. */
async function processesAt(home: string): Promise<{ found: number[]; unknown: number }> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(pids.map((pid) => read(pid, "environ")));
  const found = pids.filter((_, index) => `\0${texts[index]}`.includes(`\0HOME=${home}\0`)).map(Number);
  const silent = await Promise.all(pids.filter((_, index) => texts[index] === "").map(isInExec));
  return { found, unknown: silent.filter(Boolean).length };
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
