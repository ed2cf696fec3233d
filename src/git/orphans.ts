import { readdir, readFile } from "node:fs/promises";
import type { Log } from "./options.ts";

/** First git may remove its own locks and temporary files. */
const SIGNALS = ["SIGTERM", "SIGKILL"] as const;
const GRACE_MS = 1_000;
const POLL_MS = 20;

/**
 * Ends git processes that an earlier server on this data directory started and did not outlive: killed, it could not end
 * them, and one that waits for its host would work on in the mirror for ever. They are known by their home.
 * Where there is no /proc to look into, nothing happens.
 * @param home the directory that is HOME of every git process of this data directory, and of no other
 */
export async function endOrphans(home: string, log: Log): Promise<void> {
  let found = await processesAt(home);
  if (found.length > 0)
    log.warn({ processes: found.length }, "ending git processes of a server that was killed");
  for (const name of SIGNALS) {
    for (const pid of found) signal(pid, name);
    for (const end = performance.now() + GRACE_MS; found.length > 0 && performance.now() < end; ) {
      await Bun.sleep(POLL_MS);
      found = await processesAt(home);
    }
  }
}

async function processesAt(home: string): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const environments = pids.map((pid) => readFile(`/proc/${pid}/environ`, "utf8").catch(() => ""));
  const texts = await Promise.all(environments);
  return pids.filter((_, index) => `\0${texts[index]}`.includes(`\0HOME=${home}\0`)).map(Number);
}

function signal(pid: number, name: (typeof SIGNALS)[number]): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has just ended
  }
}
