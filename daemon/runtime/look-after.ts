import type { Log } from "../log.ts";
import { runningSessions } from "./abort.ts";
import type { RuntimeCall } from "./call.ts";
import { limitsFor, type MemoryLimits, memoryOf, memoryOfSandbox } from "./memory.ts";
import { isHealthy } from "./ready.ts";

export interface LookLimits {
  /** Between two looks whether it still answers, how long it may take, and how often it may fail. */
  lookMs: number;
  lookAnswerMs: number;
  looks: number;
  /** What its memory may be; what becomes the sandbox's own unless given. */
  memory?: MemoryLimits;
  /** One that has taken much is started again for it no sooner than this. */
  bloatedMs: number;
}

/** Why it has to be ended: something is wrong with it, or this is a good moment. */
export type Verdict = { kind: "ended"; how: string } | { kind: "wanted" };

/** So often in turn nothing may run: a prompt that was just taken does not show yet. */
const IDLE_LOOKS = 2;

/**
 * Looks after a runtime that is ready. One that answers no more, or has taken more memory than the sandbox can bear, is
 * ended whatever it does; one that has taken much, when nothing runs.
 * @returns null when it is over by itself
 */
export async function lookAfter(
  { call, log, limits, port }: { call: RuntimeCall; log: Log; limits: LookLimits; port: number },
  pid: number,
  isOver: () => boolean,
): Promise<Verdict | null> {
  const readyAt = performance.now();
  const memory = limits.memory ?? limitsFor(await memoryOfSandbox());
  let failures = 0;
  let idle = 0;
  while (failures < limits.looks) {
    await Bun.sleep(limits.lookMs);
    if (isOver()) return null;
    failures = (await isHealthy(call, limits.lookAnswerMs)) ? 0 : failures + 1;
    const bytes = (await memoryOf(pid, port)) ?? 0;
    if (bytes > memory.hard)
      return { kind: "ended", how: `took ${mebibytes(bytes)} of memory, and was ended` };
    const isIdle = bytes > memory.soft && (await runningSessions(call))?.length === 0;
    idle = isIdle ? idle + 1 : 0;
    if (isOver()) return null;
    if (idle < IDLE_LOOKS || performance.now() - readyAt < limits.bloatedMs) continue;
    log.say(`the runtime has taken ${mebibytes(bytes)} of memory, and nothing runs: it is started again`);
    return { kind: "wanted" };
  }
  return { kind: "ended", how: "did not answer any more, and was ended" };
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}
