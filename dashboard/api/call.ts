import { parseJson } from "../../src/contract/json.ts";
import { ApiFailure, failureOf } from "./failure.ts";

/** A merge or a diff of a large repository takes its time; the server has limits of its own below this. */
const LIMIT_MS = 120_000;

/** Says that a page of ours asks: no other site can send this header, so a cookie counts only with it. */
export const FROM_DASHBOARD = { "X-Svc-Dashboard": "1" };

export interface CallOptions {
  body?: unknown;
  signal?: AbortSignal;
}

/** Told when the API says that nobody is signed in. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/**
 * Asks the API.
 * @param path below `/v1`, its parts encoded (`path` of `path.ts`)
 * @returns the answer's JSON, whose form the contract promises
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
 * The same of what is behind the API: its answer may be any JSON, or none at all.
 * @throws ApiFailure
 */
export async function ask(
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

/** The answer itself, for what is no JSON. @throws ApiFailure */
export async function open(path: string, headers: Record<string, string>, signal?: AbortSignal) {
  const response = await send("GET", path, { headers, ...(signal && { signal }), isStream: true });
  if (response.ok) return response;
  throw refused(response.status, parseJson(await response.text()));
}

interface Sent extends CallOptions {
  headers?: Record<string, string>;
  /** Its length in time is nobody's to say. */
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

/** What to throw for an answer that something else has given. */
export const unexpected = (what: string): ApiFailure =>
  new ApiFailure(0, "unexpected_response", `The server sent ${what}.`);

export function unreachable(): ApiFailure {
  return new ApiFailure(
    0,
    "network",
    "The server does not answer. Is it running? This page tries again by itself.",
  );
}
