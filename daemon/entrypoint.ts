import { constants } from "node:os";
import { dirname, join } from "node:path";
import { loadLibc } from "./process/libc.ts";
import { reapOrphans } from "./process/reaper.ts";
import type { Signals } from "./process/signals.ts";

/** The exit status of shells for a program that cannot be found or started. */
const NOT_FOUND = 127;

/**
 * The first process of a sandbox: starts the daemon from its own folder, forwards signals to it, reaps orphans, and exits
 * with the daemon's exit status.
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
      `svc-entrypoint: ${program} cannot be started: it must be in the same folder as this program.\n`,
    );
    process.exit(NOT_FOUND);
  }
  signals.forwardTo((signal) => daemon.kill(signal));
  if (libc) reapOrphans(libc, (pid) => pid === daemon.pid);
  await daemon.exited;
  const { exitCode, signalCode } = daemon;
  process.exit(exitCode ?? 128 + (typeof signalCode === "string" ? constants.signals[signalCode] : 0));
}
