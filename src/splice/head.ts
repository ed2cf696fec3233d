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
  /** Whether the client may send another request on this connection. */
  keepAlive: boolean;
  /** The protocol requested by `Upgrade`, with `Connection: upgrade`. */
  upgrade: string | null;
}

/** Bytes of a head with its blank line: a common limit, many times the size of cookies and tokens. */
export const HEAD_MAX_BYTES = 32 * 1024;

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21-\x7e]+) HTTP\/(\d)\.(\d)$/;

/**
 * @returns the length of the head at `from`, with its blank line; -1 while it is incomplete
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
 * Reads a request's head strictly (RFC 9112): refuses everything that two servers could read in two ways, so that all
 * agree about where a message ends.
 * @param bytes begin with the whole head, blank line included, which is `length` long
 * @throws HeadError
 */
export function readRequestHead(bytes: Buffer, length = bytes.length): RequestHead {
  const end = bytes.indexOf(LINE_END);
  const [, method = "", target, major, minor] = REQUEST_LINE.exec(bytes.toString("latin1", 0, end)) ?? [];
  if (target === undefined) throw new HeadError(400, "The request line cannot be read.");
  if (major !== "1") throw new HeadError(505, "Only HTTP/1.1 is supported.");
  const version = versionOf(minor);
  if (!target.startsWith("/") && !(target === "*" && method === "OPTIONS")) {
    throw new HeadError(400, "The request target must begin with a slash.");
  }
  // other rules apply to the end of its response
  if (method === "CONNECT") throw new HeadError(501, "CONNECT is not supported.");
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

/** A later HTTP/1 is read as HTTP/1.1. */
function versionOf(minor: string | undefined): Version {
  return minor === "0" ? "1.0" : "1.1";
}

/** RFC 9112, 9.3 */
function isKept(version: Version, connection: readonly string[]): boolean {
  return !connection.includes("close") && (version === "1.1" || connection.includes("keep-alive"));
}

/** Required exactly once in HTTP/1.1, optional in HTTP/1.0. */
function hostOf(fields: readonly Field[], version: Version): string {
  const host = fieldOf(fields, "host");
  if (isGivenTwice(fields, "host") || (host === undefined && version === "1.1"))
    throw new HeadError(400, "A request must have exactly one Host header.");
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
  if (coding.toLowerCase() !== "chunked") throw new HeadError(501, "The transfer coding is not supported.");
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
  /** It does not end by itself, and its client reconnects when it ends. */
  isEventStream: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/**
 * Reads the fields of a response's head that determine its end. Everything else passes unread.
 * @param bytes hold the whole head, blank line included, from `from` to `to`
 * @param method of the request that it answers
 * @throws HeadError when the end cannot be determined
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

/** The fields that determine where a response ends and whether it is an event stream, each at the index of its length. */
const RESPONSE_FIELDS: readonly string[] = byLength([
  "connection",
  "content-type",
  "content-length",
  "transfer-encoding",
]);

function byLength(names: readonly string[]): string[] {
  const indexed: string[] = [];
  for (const name of names) indexed[name.length] = name;
  return indexed;
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
