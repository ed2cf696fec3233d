import { type Field, fieldOf, findFields, isGivenTwice, readFields, tokensOf } from "./fields.ts";
import { HeadError } from "./head-error.ts";

/** How long a message's body is (RFC 9112, 6.3). */
export type Framing =
  | { kind: "none" }
  | { kind: "length"; bytes: number }
  | { kind: "chunked" }
  | { kind: "close" };

type Version = "1.0" | "1.1";

export interface RequestHead {
  method: string;
  /** Begins with `/`, or is `*`; visible ASCII only. */
  target: string;
  version: Version;
  fields: Field[];
  host: string;
  framing: Framing;
  /** Whether the client takes another answer on this connection. */
  keepAlive: boolean;
  /** The protocol asked for by `Upgrade`, with `Connection: upgrade`. */
  upgrade: string | null;
}

/** Bytes of a head, with its blank line: what servers commonly take; cookies and tokens fit many times. */
export const HEAD_MAX_BYTES = 32 * 1024;

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21-\x7e]+) HTTP\/(\d)\.(\d)$/;

/**
 * How long the head is that begins at `from`, blank line included; -1 while it is not whole.
 * @throws HeadError 431 when it is longer than HEAD_MAX_BYTES
 */
export function headLength(bytes: Buffer, from = 0): number {
  const end = bytes.indexOf(BLANK_LINE, from);
  const length = end < 0 ? bytes.length - from : end + BLANK_LINE.length - from;
  if (length > HEAD_MAX_BYTES) throw new HeadError(431, "The head of the request is too long.");
  return end < 0 ? -1 : length;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");
const LINE_END = Buffer.from("\r\n");

/**
 * Reads a request's head strictly (RFC 9112): whatever two servers could read in two ways is refused, so that nobody
 * disagrees about where a message ends.
 * @param bytes begin with the whole head, blank line included, which is `length` long
 * @throws HeadError
 */
export function readRequestHead(bytes: Buffer, length = bytes.length): RequestHead {
  const end = bytes.indexOf(LINE_END);
  const [, method = "", target, major, minor] = REQUEST_LINE.exec(bytes.toString("latin1", 0, end)) ?? [];
  if (target === undefined) throw new HeadError(400, "The request line cannot be read.");
  if (major !== "1") throw new HeadError(505, "Only HTTP/1.1 is spoken here.");
  const version = versionOf(minor);
  if (!target.startsWith("/") && !(target === "*" && method === "OPTIONS")) {
    throw new HeadError(400, "The request target must begin with a slash.");
  }
  // where its answer ends is told by other rules
  if (method === "CONNECT") throw new HeadError(501, "CONNECT is not spoken here.");
  const fields = readFields(bytes, end + LINE_END.length, length - LINE_END.length);
  const connection = tokensOf(fields, "connection");
  return {
    method,
    target,
    version,
    fields,
    host: hostOf(fields, version),
    framing: requestFraming(fields, version),
    keepAlive: isKept(version, connection),
    upgrade: connection.includes("upgrade") ? (fieldOf(fields, "upgrade") ?? null) : null,
  };
}

/** A later HTTP/1 is read as the one that is known. */
function versionOf(minor: string | undefined): Version {
  return minor === "0" ? "1.0" : "1.1";
}

/** RFC 9112, 9.3 */
function isKept(version: Version, connection: readonly string[]): boolean {
  return !connection.includes("close") && (version === "1.1" || connection.includes("keep-alive"));
}

/** HTTP/1.1 names its host, once; HTTP/1.0 may leave it out. */
function hostOf(fields: readonly Field[], version: Version): string {
  const host = fieldOf(fields, "host");
  if (isGivenTwice(fields, "host") || (host === undefined && version === "1.1"))
    throw new HeadError(400, "A request names its host once.");
  if (host !== undefined && NO_HOST.test(host)) throw new HeadError(400, "The Host header cannot be read.");
  return host ?? "";
}

const NO_HOST = /[^A-Za-z0-9._~:[\]-]/;

/** Length and chunked together, or either twice, is how requests are smuggled (RFC 9112, 11.2). */
function requestFraming(fields: readonly Field[], version: Version): Framing {
  const coding = fieldOf(fields, "transfer-encoding");
  const length = fieldOf(fields, "content-length");
  const isTwice = isGivenTwice(fields, "transfer-encoding") || isGivenTwice(fields, "content-length");
  if (isTwice || (coding !== undefined && length !== undefined))
    throw new HeadError(400, "The length of the body is given twice.");
  if (length !== undefined) return { kind: "length", bytes: readLength(length) };
  if (coding === undefined) return NO_BODY;
  if (version === "1.0") throw new HeadError(400, "HTTP/1.0 has no transfer coding.");
  if (coding.toLowerCase() !== "chunked") throw new HeadError(501, "The transfer coding is not known here.");
  return { kind: "chunked" };
}

const NO_BODY: Framing = { kind: "none" };

function readLength(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new HeadError(400, "The Content-Length cannot be read.");
  return Number(value);
}

export interface ResponseHead {
  status: number;
  framing: Framing;
  /** Whether the server takes another request on this connection. */
  keepAlive: boolean;
  /** It never ends by itself, and whoever reads it comes again when it does. */
  isEventStream: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/**
 * Reads of a response's head what tells where the response ends. Everything else passes unread.
 * @param bytes hold the whole head, blank line included, from `from` to `to`
 * @param method of the request that it answers
 * @throws HeadError when that cannot be told
 */
export function readResponseHead(bytes: Buffer, from: number, to: number, method: string): ResponseHead {
  const end = bytes.indexOf(LINE_END, from);
  const [, minor, digits] = STATUS_LINE.exec(bytes.toString("latin1", from, end)) ?? [];
  if (digits === undefined) throw new HeadError(400, "The answer is not HTTP.");
  const status = Number(digits);
  const fields = findFields(bytes, end + LINE_END.length, to - LINE_END.length, RESPONSE_FIELDS);
  const version = versionOf(minor);
  const framing = responseFraming(fields, status, method);
  // chunks in HTTP/1.0, which has none, are content to some clients (RFC 9112, 6.1)
  const isEndClear = framing.kind !== "close" && !(framing.kind === "chunked" && version === "1.0");
  const keepAlive = isEndClear && isKept(version, tokensOf(fields, "connection"));
  const isEventStream = EVENT_STREAM.test(fieldOf(fields, "content-type") ?? "");
  return { status, framing, keepAlive, isEventStream };
}

/** Those fields of a response that tell where it ends, and what kind of stream it is; each at the place of its length. */
const RESPONSE_FIELDS: readonly string[] = byLength([
  "connection",
  "content-type",
  "content-length",
  "transfer-encoding",
]);

function byLength(names: readonly string[]): string[] {
  const places: string[] = [];
  for (const name of names) places[name.length] = name;
  return places;
}

const EVENT_STREAM = /^text\/event-stream\b/i;

function responseFraming(fields: readonly Field[], status: number, method: string): Framing {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return NO_BODY;
  const codings = tokensOf(fields, "transfer-encoding");
  const [length, ...others] = tokensOf(fields, "content-length");
  if (others.some((other) => other !== length)) throw new HeadError(400, TWO_ANSWERS);
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0] !== "chunked" || length !== undefined)
      throw new HeadError(400, TWO_ANSWERS);
    return { kind: "chunked" };
  }
  return length === undefined ? { kind: "close" } : { kind: "length", bytes: readLength(length) };
}

const TWO_ANSWERS = "The length of the answer is given twice.";
