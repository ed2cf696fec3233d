import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Route, Upstream } from "../../models/catalog.ts";
import { ATTEMPTS_MAX, BODY_MAX, CALL_MS, CONNECT_MS, RESPONSE_MAX, RETRY_MS } from "./limits.ts";
import type { ModelRoute } from "./paths.ts";

/** A request for an upstream. */
export interface Outgoing {
  route: ModelRoute;
  /** With its `?`, or empty. */
  query: string;
  header(name: string): string | null;
  /** The body for the upstream's own name of the model; null for a GET. */
  bodyFor: ((name: string) => Uint8Array<ArrayBuffer>) | null;
  /** The client has gone, or a time limit is over. */
  signal: AbortSignal;
  firstByteMs: number;
}

/** The first response that is not worth another attempt, and its body, of which the first bytes have arrived. */
export interface Sent {
  via: Route;
  response: Response;
  body: UpstreamBody;
  /** Ends the upstream's response. */
  abort(): void;
}

export interface UpstreamBody {
  next(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}

/** Statuses of an upstream that cannot serve a request that another one may serve. */
const RETRIED = new Set([401, 403, 408, 429, 500, 502, 503, 504, 529]);
/** Those for which the same upstream is tried again. */
const RETRIED_THERE = new Set([502, 503]);

/**
 * Sends a request to the first upstream of its model that serves it. Nothing has been passed on to the client until then.
 * @throws model_unreachable, model_timeout; the reason of the signal when it is aborted
 */
export async function send(
  deps: Pick<Deps, "log" | "outbound">,
  routes: readonly Route[],
  outgoing: Outgoing,
): Promise<Sent> {
  const { log } = deps;
  let failure: SvcError | null = null;
  const attempts = Math.min(Math.max(routes.length, 2), ATTEMPTS_MAX);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const via = routes[attempt % routes.length];
    if (!via) break;
    const isLast = attempt + 1 === attempts;
    if (attempt >= routes.length) await pause(RETRY_MS, outgoing.signal);
    const stop = new AbortController();
    const abort = () => stop.abort();
    const tried = await sendTo(deps, via, outgoing, stop);
    const upstream = via.upstream.id;
    if (tried instanceof SvcError) {
      log.warn({ upstream, code: tried.code }, "a model's upstream does not answer");
      failure = tried;
      if (tried.code === "model_timeout" || isLast) throw tried;
      continue;
    }
    const { status } = tried.response;
    const others = routes.length > 1;
    const again = others ? RETRIED.has(status) : RETRIED_THERE.has(status);
    if (!again || isLast) return { via, ...tried, abort };
    log.warn({ upstream, status }, "a model's upstream cannot serve a request");
    abort();
  }
  throw failure ?? new Error("a model has no upstream");
}

/** @returns the response, or why there is none. @throws when the outgoing signal is aborted */
async function sendTo(
  { outbound }: Pick<Deps, "outbound">,
  { upstream, model }: Route,
  { route, query, header, bodyFor, signal, firstByteMs }: Outgoing,
  stop: AbortController,
): Promise<Pick<Sent, "response" | "body"> | SvcError> {
  signal.throwIfAborted();
  const onAbort = () => stop.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop.abort();
  }, firstByteMs);
  try {
    const url = urlOf(upstream, route) + query;
    const request = {
      method: bodyFor ? "POST" : "GET",
      headers: headersFor(upstream, header),
      ...(bodyFor && { body: bodyFor(model.name) }),
      signal: stop.signal,
    };
    const response = upstream.isOfProject
      ? await outbound(url, { ...request, limits: GUARDED })
      : // the default time limit would end a model that thinks for five minutes
        await fetch(url, { ...request, redirect: "manual", ...{ timeout: false } });
    if (response.status >= 300 && response.status < 400) {
      stop.abort();
      return unreachable("redirects, which svc does not follow");
    }
    return { response, body: await bodyOf(response) };
  } catch {
    signal.throwIfAborted();
    if (isLate)
      return new SvcError(
        "model_timeout",
        `The model's upstream has not begun to respond within ${Math.round(firstByteMs / 1000)} s. Stream the response, or try again.`,
      );
    return unreachable("cannot be reached");
  } finally {
    clearTimeout(timer);
    // from now on, whoever reads the response ends it
    signal.removeEventListener("abort", onAbort);
  }
}

/** For an upstream that a project has chosen: its first byte and its silence have the limits of all others besides. */
const GUARDED = {
  connectMs: CONNECT_MS,
  firstByteMs: CALL_MS,
  idleMs: CALL_MS,
  totalMs: CALL_MS,
  requestBytes: 2 * BODY_MAX,
  responseBytes: RESPONSE_MAX,
};

/** Waits for the first bytes: until then, another upstream can be tried. */
async function bodyOf({ body }: Response): Promise<UpstreamBody> {
  const reader = body?.getReader();
  if (!reader) return { next: async () => ({ done: true }) };
  let first: Awaited<ReturnType<UpstreamBody["next"]>> | null = await reader.read();
  return {
    next() {
      if (first === null) return reader.read();
      const part = Promise.resolve(first);
      first = null;
      return part;
    },
  };
}

function unreachable(why: string): SvcError {
  return new SvcError("model_unreachable", `The model's upstream ${why}. Try again, or ask the operator.`);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
  signal.throwIfAborted();
}

/** The URL of a route: base URLs of Anthropic's format are accepted with and without their `/v1`. */
function urlOf({ format, url }: Upstream, { path }: ModelRoute): string {
  return (format === "anthropic" ? url.replace(/\/v1$/, "") : url) + path;
}

/**
 * Of a request, these reach the upstream: no credential, address or cookie of the client, and nothing by which it could
 * choose among the operator's own organizations and projects.
 */
const PASSED = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "user-agent"];
const ANTHROPIC_VERSION = "2023-06-01";

function headersFor({ format, key }: Upstream, header: Outgoing["header"]): Record<string, string> {
  const passed = PASSED.flatMap((name) => {
    const value = header(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    "user-agent": "svc",
    ...(format === "anthropic" && { "anthropic-version": ANTHROPIC_VERSION }),
    ...Object.fromEntries(passed),
    // a response that is measured must not be compressed
    "accept-encoding": "identity",
    ...(format === "anthropic" ? { "x-api-key": key } : { authorization: `Bearer ${key}` }),
  };
}

/** Not passed to the client: what belongs to a connection, and what names the operator's own account. */
const DROPPED =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|set-cookie.*|alt-svc|strict-transport-security|server|via|access-control-.*|openai-organization|openai-project|anthropic-organization-id|x-request-id|x-content-type-options|cache-control)$/;

/** The headers of an upstream's response for the client. */
export function responseHeaders(response: Response, { key }: Upstream): Record<string, string> {
  return Object.fromEntries(
    [...response.headers].filter(([name, value]) => !DROPPED.test(name) && !value.includes(key)),
  );
}
