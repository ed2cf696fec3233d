import type { DaemonCheck, DaemonCheckResult } from "../../src/contract/daemon.ts";
import { runToEnd } from "../process/run-to-end.ts";
import { type AppContext, appEnvironment, rootOf } from "./context.ts";

/** Shorter values are words that a log may have by chance. */
const MASKED_MIN = 6;

/** Runs the command of a check to its end. Its log has no escape sequences, and the values of secrets are masked. */
export async function runCheck(
  context: AppContext,
  { command, timeoutMs }: DaemonCheck,
  signal: AbortSignal,
): Promise<DaemonCheckResult> {
  const { settings, log } = context;
  const begun = performance.now();
  const mask = maskOf(Object.values(settings.secrets.env));
  const { exitCode, signalCode, isLate } = await runToEnd(
    context,
    {
      command,
      environment: appEnvironment(context, "check"),
      directory: rootOf(context),
      limitMs: timeoutMs,
      log: (line) => log.check(mask(Bun.stripANSI(line))),
      name: "the check",
    },
    signal,
  );
  return {
    exit_code: isLate || signalCode ? null : exitCode,
    signal: signalCode === null ? null : String(signalCode),
    timed_out: isLate,
    duration_ms: Math.round(performance.now() - begun),
  };
}

/** Replaces secrets in a line; each line of a secret with several. */
export function maskOf(secrets: readonly string[]): (line: string) => string {
  const parts = secrets
    .flatMap((value) => value.split(/\r?\n/))
    .filter((part) => part.length >= MASKED_MIN)
    // one secret may be part of another
    .toSorted((a, b) => b.length - a.length);
  return (line) => parts.reduce((text, part) => text.replaceAll(part, "***"), line);
}
