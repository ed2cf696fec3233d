import { textField } from "../contract/json.ts";

/**
 * How a client reaches svc's API. Paths are below `/v1`, their parts encoded. What is thrown for an answer that is none of
 * success is an Error with the answer's `code`; of this side's own there are `network` and `timeout`.
 */
export interface Reach {
  /** The answer's JSON; null for one without a body. */
  get(path: string, query?: Readonly<Record<string, string | number>>): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  /** A stream of events, as its bytes come. It fails when it is silent for so long. */
  stream(path: string, options: StreamOptions): Promise<AsyncIterable<Uint8Array>>;
  /** What to throw for an answer that is not svc's: its code is `unexpected_response`. */
  unexpected(what: string): Error;
}

export interface StreamOptions {
  signal: AbortSignal;
  silentSeconds: number;
  headers?: Readonly<Record<string, string>>;
}

/** The code of what was thrown; empty where it has none. */
export const codeOf = (failure: unknown): string =>
  failure instanceof Error ? textField(failure, "code") : "";

/** Whether a failure may be over the next time: the network's, a server that starts or drains, one in between. */
export function passes(failure: unknown): boolean {
  const code = codeOf(failure);
  return PASSING.includes(code) || code.startsWith("http_5");
}

const PASSING = ["network", "timeout", "unavailable", "rate_limited", "internal"];
