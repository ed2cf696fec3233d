import { setTimeout as sleep } from "node:timers/promises";
import { SvcError } from "../../contract/errors.ts";
import type { RunLog } from "./log.ts";

/** Before each further attempt, in seconds. */
const DELAYS_S = [1, 2, 4, 8, 15];

/**
 * Repeats a step of a start whose error says that another attempt may succeed (`Retry-After`): a busy git host, or a busy
 * machine, is no reason to fail. The log says so.
 * @throws the error of the last attempt; the signal's reason
 */
export async function withRetries<Result>(
  log: Pick<RunLog, "write">,
  signal: AbortSignal,
  step: () => Promise<Result>,
): Promise<Result> {
  for (const delay of DELAYS_S) {
    try {
      return await step();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SvcError) || error.headers["Retry-After"] === undefined) throw error;
      log.write("svc", `${error.message} Retrying in ${delay} s.`);
      await sleep(delay * 1000, undefined, { signal });
    }
  }
  return await step();
}
