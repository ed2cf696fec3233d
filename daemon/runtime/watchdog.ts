import type { Log } from "../log.ts";
import type { Exit } from "../process/supervisor.ts";
import { runningSessions } from "./abort.ts";
import type { RuntimeCall } from "./call.ts";
import { limitsFor, type MemoryLimits, memoryOf, memoryOfSandbox } from "./memory.ts";
import { isHealthy } from "./ready.ts";

export interface WatchdogLimits {
  /** The interval of health checks, the timeout of one, and how many may fail in a row. */
  checkMs: number;
  checkTimeoutMs: number;
  checkFailures: number;
  /** The memory that the runtime may use; by default computed from the sandbox's memory. */
  memory?: MemoryLimits;
  /** A runtime that has run for less than this is not restarted for its memory. */
  memoryRestartMs: number;
}

/** Checks in a row without a run before a restart: a prompt that was just accepted is not visible yet. */
const IDLE_CHECKS = 2;

/**
 * Watches a runtime that is ready. It must be ended if it does not respond or uses more memory than the hard limit,
 * and is replaced if it uses more than the soft limit while no run is under way.
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
      return { kind: "crashed", reason: `used ${mebibytes(bytes)} of memory, and was ended` };
    const isIdle = bytes > memory.soft && (await runningSessions(call))?.length === 0;
    idle = isIdle ? idle + 1 : 0;
    if (signal.aborted) return null;
    if (idle < IDLE_CHECKS || performance.now() - readyAt < limits.memoryRestartMs) continue;
    log.info(`restarting the idle runtime: it uses ${mebibytes(bytes)} of memory`);
    return { kind: "replaced" };
  }
  return { kind: "crashed", reason: "stopped responding, and was ended" };
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
