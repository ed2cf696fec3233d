import { VERSION } from "../src/contract/version.ts";
import { answerFailure, networkFailure, notSignedIn } from "./api-failure.ts";
import { CliError } from "./failure.ts";
import type { System } from "./system.ts";
import type { Target } from "./target.ts";

/** Retries of a GET, and the longest `Retry-After` that is honoured. */
const RETRIES = 3;
const RETRY_AFTER_MAX_MS = 10_000;
const REDIRECTS_MAX = 3;
/** Timeouts of a request in seconds; the second for requests that run git on the server. */
const SECONDS = 30;
const SLOW_SECONDS = 120;

export interface Call {
  /** Defaults to POST with a body, else GET. */
  method?: string;
  /** Below the host's `/v1`, beginning with a slash, with encoded segments. */
  path: string;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** Sent unchanged instead of `body`. */
  raw?: { bytes: Uint8Array; type: string };
  accept?: string;
  headers?: Readonly<Record<string, string>>;
  /** A timeout that --timeout does not change: for streams, where it limits the silence. */
  seconds?: number;
  /** Aborts the request. */
  signal?: AbortSignal;
  /** Whether the server runs git for it, which may take longer. */
  slow?: boolean;
  /** Sends no token: for sign-in routes. */
  anonymous?: boolean;
}

export interface Opened {
  response: Response;
  /** The body, under the timeout of the whole request. */
  whole(): AsyncGenerator<Uint8Array>;
  /** The body as a stream: the timeout applies to each read from the server, however slow the consumer is. */
  stream(): AsyncGenerator<Uint8Array>;
}

/**
 * Sends a request and returns a successful response. GETs are retried if the network or a proxy fails; writes are not,
 * because the first attempt may have arrived.
 * @throws CliError for everything else.
 */
export async function openCall(
  system: System,
  target: Target,
  call: Call,
  timeout: number | undefined,
): Promise<Opened> {
  if (!call.anonymous && target.token === undefined) throw notSignedIn(target);
  const seconds = call.seconds ?? timeout ?? (call.slow ? SLOW_SECONDS : SECONDS);
  const limit = new TimeLimit(seconds * 1000, call.signal);
  const failed = (error: unknown) => networkFailure(error, target, seconds, system.env);
  try {
    const response = await send(system, target, call, limit.signal);
    if (!response.ok) throw await answerFailure(response, target, system.env);
    const read = (again: boolean) => chunks(response, limit, again, failed);
    return { response, whole: () => read(false), stream: () => read(true) };
  } catch (error) {
    limit.stop();
    throw failed(error);
  }
}

async function send(system: System, target: Target, call: Call, signal: AbortSignal): Promise<Response> {
  const method = call.method ?? (call.body === undefined && !call.raw ? "GET" : "POST");
  const isRead = method === "GET" || method === "HEAD";
  let url = urlOf(target, call);
  for (let attempt = 0, redirects = 0; ; ) {
    const wait = 150 * 2 ** attempt * (0.5 + Math.random());
    const mayRetry = isRead && attempt < RETRIES && !signal.aborted;
    let response: Response;
    try {
      response = await system.fetch(url, init(target, call, method, signal));
    } catch (error) {
      if (!mayRetry || signal.aborted || error instanceof CliError) throw error;
      attempt++;
      await pause(wait, signal);
      continue;
    }
    if (response.status >= 300 && response.status < 400 && response.headers.has("location")) {
      url = follow(url, response, isRead && redirects++ < REDIRECTS_MAX, target);
      continue;
    }
    const delay = mayRetry ? retryDelay(response, wait) : null;
    if (delay === null) return response;
    attempt++;
    await response.body?.cancel();
    await pause(delay, signal);
  }
}

/** @throws CliError `usage` if the path leaves the host's API. */
function urlOf(target: Target, call: Call): string {
  const url = new URL(target.url + call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.append(name, String(value));
  }
  if (url.href.startsWith(`${target.url}/`)) return url.href;
  throw new CliError("usage", "The path is outside the host's API. Nothing was sent.");
}

function init(target: Target, call: Call, method: string, signal: AbortSignal): RequestInit {
  const headers = new Headers({
    ...call.headers,
    Accept: call.accept ?? "application/json",
    "User-Agent": `svc/${VERSION} (${process.platform}-${process.arch})`,
  });
  if (!call.anonymous) headers.set("Authorization", `Bearer ${target.token}`);
  const base: RequestInit = { method, headers, redirect: "manual", signal };
  if (call.raw) {
    headers.set("Content-Type", call.raw.type);
    return { ...base, body: new Blob([new Uint8Array(call.raw.bytes)]) };
  }
  if (call.body === undefined) return base;
  headers.set("Content-Type", "application/json");
  return { ...base, body: JSON.stringify(call.body) };
}

function follow(from: string, response: Response, mayFollow: boolean, target: Target): string {
  const location = response.headers.get("location") ?? "";
  const to = URL.canParse(location, from) ? new URL(location, from) : null;
  if (mayFollow && to?.href.startsWith(`${target.url}/`)) return to.href;
  throw new CliError(
    "unexpected_response",
    `${target.name} redirects to ${to?.origin ?? "an unreadable address"}. Nothing was sent there.`,
    { hint: `Check the host's address, which is set to ${target.url}.` },
  );
}

/** Null: do not retry. A 502 from the API itself is final: the server has already retried. */
function retryDelay(response: Response, wait: number): number | null {
  if (![429, 502, 503, 504].includes(response.status)) return null;
  const asked = response.headers.get("retry-after");
  if (asked !== null) {
    const ms = /^\d+$/.test(asked) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
    if (!Number.isNaN(ms)) return ms <= RETRY_AFTER_MAX_MS ? Math.max(ms, 0) + wait / 2 : null;
  }
  const isOurs = response.status === 502 && response.headers.get("content-type")?.includes("json");
  return isOurs ? null : wait;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal.throwIfAborted();
}

async function* chunks(
  response: Response,
  limit: TimeLimit,
  restart: boolean,
  failed: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  try {
    for (;;) {
      if (restart) limit.start();
      const next = await reader?.read().catch((error: unknown) => {
        throw failed(error);
      });
      if (restart) limit.stop();
      if (!next || next.done) return;
      yield next.value;
    }
  } finally {
    limit.stop();
    await reader?.cancel().catch(() => {});
  }
}

/** Aborts its signal after a timeout, unless it is stopped or restarted. */
class TimeLimit {
  readonly #controller = new AbortController();
  readonly #ms: number;
  /** Aborted by the time or by `other`. */
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, other?: AbortSignal) {
    this.#ms = ms;
    this.signal = other ? AbortSignal.any([this.#controller.signal, other]) : this.#controller.signal;
    this.start();
  }

  start(): void {
    this.stop();
    const expire = () => this.#controller.abort(new DOMException("The time limit passed.", "TimeoutError"));
    this.#timer = setTimeout(expire, this.#ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
