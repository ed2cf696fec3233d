import { constants } from "node:os";
import { dirname, join } from "node:path";
import { loadLibc } from "./process/libc.ts";
import { reapOrphans } from "./process/reaper.ts";
import type { Signals } from "./process/signals.ts";

/** As shells answer for a program that is not there, or cannot be started. */
const NOT_FOUND = 127;

/**
 * The first process of a sandbox: starts the daemon from beside itself, passes signals on to it, takes note of orphans'
 * deaths, and ends as the daemon ends.
 */
export async function runEntrypoint(signals: Signals): Promise<void> {
  const libc = loadLibc();
  libc?.hide();
  const program = join(dirname(process.execPath), "svc-agent");
  let daemon: Bun.Subprocess;
  try {
    daemon = Bun.spawn([program], { stdio: ["inherit", "inherit", "inherit"], env: process.env });
  } catch {
    process.stderr.write(
      `svc-entrypoint: ${program} cannot be started: it has to stand beside this program.\n`,
    );
    process.exit(NOT_FOUND);
  }
  signals.forwardTo((signal) => daemon.kill(signal));
  if (libc) reapOrphans(libc, (pid) => pid === daemon.pid);
  await daemon.exited;
  const { exitCode, signalCode } = daemon;
  process.exit(exitCode ?? 128 + (typeof signalCode === "string" ? constants.signals[signalCode] : 0));
}
