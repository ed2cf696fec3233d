import { ERROR_STATUS, type ErrorBody, type ErrorCode } from "../src/contract/errors.ts";
import type { Answer } from "../src/splice/answer.ts";

/** A JSON answer of the daemon's own. It is never kept by anyone. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
    body: JSON.stringify(body),
  };
}

/** An error's answer (contract: URLs, errors, auth). */
export function problem(code: ErrorCode, error: string, headers: Record<string, string> = {}): Answer {
  return json(ERROR_STATUS[code], { error, code } satisfies ErrorBody, headers);
}

/** The runtime does not answer yet, or no more for a moment. */
export function notReady(error: string): Answer {
  return problem("unavailable", error, { "Retry-After": "1" });
}
