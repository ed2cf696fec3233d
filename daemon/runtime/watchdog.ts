import type { Log } from "../log.ts";
import type { Exit } from "../process/supervisor.ts";
import { runningSessions } from "./abort.ts";
import type { RuntimeCall } from "./call.ts";
import { limitsFor, type MemoryLimits, memoryOf, memoryOfSandbox } from "./memory.ts";
import { isHealthy } from "./ready.ts";

export interface WatchdogLimits {
  /** Between two health checks, for the answer to one, and how many may fail in a row. */
  checkMs: number;
  checkTimeoutMs: number;
  checkFailures: number;
  /** The memory that the runtime may take; computed from the sandbox's own unless given. */
  memory?: MemoryLimits;
  /** A runtime is not restarted for its memory before it has run this long. */
  memoryRestartMs: number;
}

/** Checks in a row without a run before a restart: a prompt that was just accepted is not visible yet. */
const IDLE_CHECKS = 2;

/**
 * Watches a runtime that is ready. It must be ended when it does not answer or takes more memory than the hard limit,
 * and is replaced when it takes more than the soft limit while nothing runs.
 * @returns null once the signal has aborted
 */
export async function watch(
  { call, log, limits, port }: { call: RuntimeCall; log: Log; limits: WatchdogLimits; port: number },
  pid: number,
  signal: AbortSignal,
): Promise<Exit | null> {
  const readyAt = performance.now();
  const memory = limits.memory ?? limitsFor(await memoryOfSandbox());
  let failures = 0;
  let idle = 0;
  while (failures < limits.checkFailures) {
    await Bun.sleep(limits.checkMs);
    if (signal.aborted) return null;
    failures = (await isHealthy(call, limits.checkTimeoutMs)) ? 0 : failures + 1;
    const bytes = (await memoryOf(pid, port)) ?? 0;
    if (bytes > memory.hard)
      return { kind: "crashed", reason: `took ${mebibytes(bytes)} of memory, and was ended` };
    const isIdle = bytes > memory.soft && (await runningSessions(call))?.length === 0;
    idle = isIdle ? idle + 1 : 0;
    if (signal.aborted) return null;
    if (idle < IDLE_CHECKS || performance.now() - readyAt < limits.memoryRestartMs) continue;
    log.info(`restarting the runtime: it takes ${mebibytes(bytes)} of memory, and nothing runs`);
    return { kind: "replaced" };
  }
  return { kind: "crashed", reason: "did not answer any more, and was ended" };
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
