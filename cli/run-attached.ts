import { constants } from "node:os";
import type { System } from "./system.ts";

/**
 * Runs a program on svc's own streams, with the signals that svc gets.
 * @returns its exit code, as a shell has it
 * @throws what starting it throws
 */
export async function runAttached(
  system: System,
  command: readonly string[],
  env: Record<string, string | undefined>,
): Promise<number> {
  let child: Bun.Subprocess | undefined;
  // a terminal sends Ctrl-C to both: the program decides what it means
  const ignore = () => {};
  const pass = (signal: NodeJS.Signals) => child?.kill(signal);
  // before the start, so that no signal ends svc alone
  process.on("SIGINT", ignore).on("SIGTERM", pass).on("SIGHUP", pass);
  try {
    child = Bun.spawn([...command], {
      cwd: system.cwd,
      env,
      stdin: system.stdin.fd,
      stdout: system.stdout.fd,
      stderr: system.stderr.fd,
    });
    await child.exited;
    return child.exitCode ?? 128 + signalNumber(child.signalCode);
  } finally {
    process.off("SIGINT", ignore).off("SIGTERM", pass).off("SIGHUP", pass);
  }
}

/** As shells report the end by a signal. */
const signalNumber = (signal: string | number | null): number =>
  Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0;
