import { SvcError } from "../contract/errors.ts";
import type { SessionRow } from "../sessions/wire.ts";

/** Starting a sandbox takes a few seconds. */
const RETRY_S = 3;

/** The refusal for a session without a sandbox that could answer. */
export function notRunning({ status }: SessionRow): SvcError {
  const sentence = `The session is ${status}.`;
  return new SvcError("not_running", sentence, { status }, { "Retry-After": String(RETRY_S) });
}
