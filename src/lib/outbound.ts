import { request as httpRequest, type IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { ipv4First, isLocalhost, isPublic, resolveHost } from "./address.ts";
import { connectTo, type Target } from "./connect.ts";
import { within } from "./within.ts";

/**
 * Sends a request to an address that a user of svc chose, and never to a private address unless the operator allows it.
 * The host is resolved once, and the connection goes to the address that was checked, so DNS cannot change it in between.
 * It follows no redirects and uses no proxy. The body of the response ends with an `OutboundError` at a limit.
 * @throws OutboundError
 */
export type Outbound = (url: string | URL, init?: OutboundInit) => Promise<Response>;

export interface OutboundInit {
  method?: string | undefined;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: string | Uint8Array | null | undefined;
  signal?: AbortSignal | null | undefined;
  limits?: Partial<OutboundLimits> | undefined;
}

export interface OutboundLimits {
  /** To resolve the host and connect, with TLS. */
  connectMs: number;
  /** From then to the head of the response. */
  firstByteMs: number;
  /** Between two parts of the body. */
  idleMs: number;
  /** For everything, including the body. */
  totalMs: number;
  requestBytes: number;
  responseBytes: number;
}

export interface OutboundOptions {
  /** Also allows `http://` and addresses that are not public. */
  allowPrivate: boolean;
  /** Returns all addresses of a host. */
  resolve?: (host: string) => Promise<string[]>;
  connect?: (target: Target, signal: AbortSignal) => Promise<Duplex>;
}

/** Why a request failed. The message names the host and nothing else of the URL, which may contain a credential. */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly reason: "invalid_url" | "not_allowed" | "unreachable" | "timeout" | "too_large" | "aborted";

  constructor(reason: OutboundError["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** For a short exchange of JSON. A caller that streams passes its own. */
const LIMITS: OutboundLimits = {
  connectMs: 5_000,
  firstByteMs: 10_000,
  idleMs: 10_000,
  totalMs: 15_000,
  requestBytes: 1024 * 1024,
  responseBytes: 1024 * 1024,
};
/** The default of Node and of nginx. */
const HEAD_MAX_BYTES = 16 * 1024;
/** The common limit of browsers and servers. */
const URL_MAX = 2048;
/** More would only take longer to fail. */
const ADDRESSES_MAX = 4;
/** Belong to the connection, which this client makes: a caller cannot set them. */
const OWN_HEADERS = ["host", "connection", "content-length", "transfer-encoding", "expect", "upgrade", "te"];

export function createOutbound({
  allowPrivate,
  resolve = resolveHost,
  connect = connectTo,
}: OutboundOptions): Outbound {
  return async (address, init = {}) => {
    const limits = { ...LIMITS, ...init.limits };
    const url = readOutboundUrl(address, allowPrivate);
    const host = hostOf(url);
    const body = typeof init.body === "string" ? Buffer.from(init.body) : (init.body ?? null);
    if (body && body.byteLength > limits.requestBytes)
      throw new OutboundError("too_large", `The request to ${host} is over ${limits.requestBytes} bytes.`);
    const end = startClock(host, limits.totalMs, init.signal ?? null);
    try {
      const socket = await within(open(url, end.signal), limits.connectMs, () => late(host, "connect"));
      const sent = send(socket, url, { ...init, body }, end.signal);
      const incoming = await within(sent, limits.firstByteMs, () => late(host, "answer"));
      return toResponse(incoming, host, limits, end);
    } catch (error) {
      const failure = end.signal.aborted ? end.signal.reason : error;
      end.now();
      throw toOutboundError(failure, host);
    }
  };

  /** Connects to the first address that answers. */
  async function open(url: URL, signal: AbortSignal): Promise<Duplex> {
    const host = hostOf(url);
    const addresses = isIP(host) ? [host] : await resolve(host).catch(() => []);
    if (addresses.length === 0) throw new OutboundError("unreachable", `The host ${host} was not found.`);
    if (!allowPrivate && !addresses.every(isPublic)) throw notPublic(host);
    const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
    let failure: unknown;
    for (const address of ipv4First(addresses).slice(0, ADDRESSES_MAX)) {
      signal.throwIfAborted();
      try {
        return await connect({ address, port, tlsName: url.protocol === "https:" ? host : null }, signal);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }
}

/**
 * Reads a URL that a user gave, without resolving its host.
 * @throws OutboundError `invalid_url`, or `not_allowed` for `http://` and hosts that are private by their form
 */
export function readOutboundUrl(text: string | URL, allowPrivate: boolean): URL {
  const url = URL.parse(String(text));
  if (!url || String(text).length > URL_MAX || url.hostname === "" || url.port === "0")
    throw new OutboundError("invalid_url", `The URL must be an https:// URL of up to ${URL_MAX} characters.`);
  if (url.username || url.password)
    throw new OutboundError("invalid_url", "The URL must not contain a user name or a password.");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new OutboundError("invalid_url", "The URL must begin with https://.");
  if (url.protocol === "http:" && !allowPrivate)
    throw new OutboundError(
      "not_allowed",
      `The URL must begin with https://, because http is not encrypted. ${ALLOW}`,
    );
  const host = hostOf(url);
  if (!allowPrivate && (isLocalhost(host) || (isIP(host) !== 0 && !isPublic(host)))) throw notPublic(host);
  url.hash = "";
  return url;
}

/**
 * Reads the beginning of a body, and closes the connection when there is more. An error after the first byte ends the
 * text, as the end of the body does.
 */
export async function readStart(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const reader = response.body?.getReader();
  for (let size = 0; reader && size < maxBytes; ) {
    const { done, value } = await reader.read().catch(() => ({ done: true as const, value: undefined }));
    if (done) break;
    chunks.push(value);
    size += value.byteLength;
  }
  await reader?.cancel().catch(() => {});
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function send(
  socket: Duplex,
  url: URL,
  init: { method?: string | undefined; headers?: OutboundInit["headers"]; body: Uint8Array | null },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = new Headers(init.headers);
  for (const name of OWN_HEADERS) headers.delete(name);
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
  headers.set("host", url.host);
  const method = init.method ?? "GET";
  if (init.body || method !== "GET") headers.set("content-length", String(init.body?.byteLength ?? 0));
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = httpRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: Object.fromEntries(headers),
    maxHeaderSize: HEAD_MAX_BYTES,
    createConnection: () => socket,
  });
  outgoing.on("error", reject);
  outgoing.once("response", resolve);
  outgoing.once("upgrade", () => reject(new Error("upgraded")));
  signal.addEventListener("abort", () => {
    outgoing.destroy();
    socket.destroy();
    reject(signal.reason);
  });
  outgoing.end(init.body ?? undefined);
  return promise;
}

function toResponse(incoming: IncomingMessage, host: string, limits: OutboundLimits, end: Clock): Response {
  const headers = new Headers();
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2)
    headers.append(incoming.rawHeaders[at] ?? "", incoming.rawHeaders[at + 1] ?? "");
  // an aborted response without a listener would end the process
  incoming.on("error", () => {});
  const parts: AsyncIterator<Uint8Array> = incoming[Symbol.asyncIterator]();
  let size = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = await within(parts.next(), limits.idleMs, () => late(host, "continue"));
          if (part.done) {
            end.now();
            return controller.close();
          }
          size += part.value.byteLength;
          if (size > limits.responseBytes)
            throw new OutboundError(
              "too_large",
              `The answer of ${host} is over ${limits.responseBytes} bytes.`,
            );
          controller.enqueue(part.value);
        } catch (error) {
          const failure = toOutboundError(end.signal.aborted ? end.signal.reason : error, host);
          end.now();
          controller.error(failure);
        }
      },
      cancel: () => end.now(),
    },
    { highWaterMark: 0 },
  );
  const status = incoming.statusCode ?? 0;
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) end.now();
  return new Response(isEmpty ? null : body, { status, headers });
}

/** Ends a request: at its total limit, when the caller aborts it, or when it is over. */
interface Clock {
  signal: AbortSignal;
  now(): void;
}

function startClock(host: string, totalMs: number, caller: AbortSignal | null): Clock {
  const ended = new AbortController();
  const stop = () => ended.abort(new OutboundError("aborted", `The request to ${host} was cancelled.`));
  const timer = setTimeout(() => ended.abort(late(host, "finish")), totalMs);
  ended.signal.addEventListener("abort", () => {
    clearTimeout(timer);
    caller?.removeEventListener("abort", stop);
  });
  caller?.addEventListener("abort", stop);
  if (caller?.aborted) stop();
  return { signal: ended.signal, now: stop };
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}

function toOutboundError(error: unknown, host: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const code: unknown = Reflect.get(Object(error), "code");
  const why = typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
  return new OutboundError("unreachable", `The request to ${host} failed${why}.`);
}

function late(host: string, verb: string): OutboundError {
  return new OutboundError("timeout", `The host ${host} did not ${verb} in time.`);
}

const ALLOW = "To allow it, the operator of this server sets SVC_ALLOW_PRIVATE_ADDRESSES=1.";

function notPublic(host: string): OutboundError {
  return new OutboundError("not_allowed", `The host ${host} has a private or reserved address. ${ALLOW}`);
}
