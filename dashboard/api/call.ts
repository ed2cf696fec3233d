import { parseJson } from "../../src/contract/json.ts";
import { ApiFailure, failureOf } from "./failure.ts";
import { FROM_DASHBOARD } from "./from-dashboard.ts";

/** A merge or a diff of a large repository is slow. The server's own limits are lower. */
const LIMIT_MS = 120_000;

export interface CallOptions {
  body?: unknown;
  signal?: AbortSignal;
}

/** Called when the API answers that the user is not signed in. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/**
 * Sends a request to the API.
 * @param path below `/v1`, its segments encoded (`path` of `path.ts`)
 * @returns the JSON of the response; the contract defines its type
 * @throws ApiFailure
 */
export async function call<T>(method: string, path: string, { body, signal }: CallOptions = {}): Promise<T> {
  const response = await send(method, path, { body, ...(signal && { signal }) });
  const text = await response.text().catch(() => Promise.reject(unreachable()));
  const answer = parseJson(text);
  if (response.ok && answer !== null) return answer as T;
  throw refused(response.status, answer);
}

/**
 * Sends a request to a service behind the API, which may answer with any JSON or with an empty body.
 * @throws ApiFailure
 */
export async function callProxied(
  method: string,
  path: string,
  { body, signal }: CallOptions = {},
): Promise<unknown> {
  const response = await send(method, path, { body, ...(signal && { signal }) });
  const text = await response.text().catch(() => Promise.reject(unreachable()));
  const answer = parseJson(text);
  if (!response.ok) throw refused(response.status, answer);
  if (answer === null && text.trim() !== "") throw unexpected("an answer that is not JSON");
  return answer;
}

/** Returns the response itself, for bodies that are not JSON. @throws ApiFailure */
export async function open(path: string, headers: Record<string, string>, signal?: AbortSignal) {
  const response = await send("GET", path, { headers, ...(signal && { signal }), isStream: true });
  if (response.ok) return response;
  throw refused(response.status, parseJson(await response.text()));
}

interface Sent extends CallOptions {
  headers?: Record<string, string>;
  /** A stream has no time limit. */
  isStream?: boolean;
}

async function send(
  method: string,
  path: string,
  { body, headers, signal, isStream }: Sent,
): Promise<Response> {
  const signals = [...(signal ? [signal] : []), ...(isStream ? [] : [AbortSignal.timeout(LIMIT_MS)])];
  try {
    return await fetch(`/v1${path}`, {
      method,
      headers: {
        Accept: "application/json",
        ...FROM_DASHBOARD,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.any(signals),
      credentials: "same-origin",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
}

function refused(status: number, answer: unknown): ApiFailure {
  const failure = failureOf(status, answer);
  if (failure.code === "unauthorized") onSignedOut();
  return failure;
}

/** For a response that the API does not send, such as one of a proxy in between. */
export const unexpected = (what: string): ApiFailure =>
  new ApiFailure(0, "unexpected_response", `The server sent ${what}.`);

export function unreachable(): ApiFailure {
  return new ApiFailure(
    0,
    "network",
    "The server does not answer. Check that it is running. This page retries automatically.",
  );
}
