import { textField } from "../contract/json.ts";

/**
 * Sends requests to svc's API. Paths are below `/v1`, with encoded segments. A response that is not a success throws an
 * Error with the response's `code`; the client's own codes are `network` and `timeout`.
 */
export interface Transport {
  /** The JSON of the response; null if it has no body. */
  get(path: string, query?: Readonly<Record<string, string | number>>): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  /** The bytes of an event stream. Fails after `silentSeconds` without data. */
  stream(path: string, options: StreamOptions): Promise<AsyncIterable<Uint8Array>>;
  /** The error for a response that is not svc's, with the code `unexpected_response`. */
  unexpected(what: string): Error;
}

export interface StreamOptions {
  signal: AbortSignal;
  silentSeconds: number;
  headers?: Readonly<Record<string, string>>;
}

/** The `code` of an error; empty if it has none. */
export const codeOf = (failure: unknown): string =>
  failure instanceof Error ? textField(failure, "code") : "";

/** Whether a retry may succeed: network failures, a server that starts or drains, a proxy in between. */
export function isTransient(failure: unknown): boolean {
  const code = codeOf(failure);
  return TRANSIENT.includes(code) || code.startsWith("http_5");
}

const TRANSIENT = ["network", "timeout", "unavailable", "rate_limited", "internal"];
