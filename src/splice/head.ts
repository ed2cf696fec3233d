/** A request's head, or a response's, that cannot be taken. `status` is what to answer a client. */
export class HeadError extends Error {
  override readonly name = "HeadError";
  readonly status: 400 | 413 | 431 | 501 | 505;

  constructor(status: HeadError["status"], message: string) {
    super(message);
    this.status = status;
  }
}

/** How long a message's body is (RFC 9112, 6.3). */
export type Framing =
  | { kind: "none" }
  | { kind: "length"; bytes: number }
  | { kind: "chunked" }
  | { kind: "close" };

export interface Field {
  /** As it was written. */
  name: string;
  /** In lower case. */
  key: string;
  /** Without blanks around it, tabs not being any: some servers disagree there. Each character is a byte (latin1). */
  value: string;
}

export interface RequestHead {
  method: string;
  /** Begins with `/`, or is `*`; visible ASCII only. */
  target: string;
  version: "1.0" | "1.1";
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
const FIELDS_MAX = 128;

/** A head after its first line: fields, each with the end of the line before it. One that begins with a blank is none. */
const FIELDS = /^(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,32}) ([\x21-\x7e]+) HTTP\/(\d)\.(\d)$/;

/**
 * Where the head at the beginning of these bytes ends, blank line included; -1 while it is not whole.
 * @throws HeadError 431 when it is longer than HEAD_MAX_BYTES
 */
export function headLength(bytes: Buffer): number {
  const end = bytes.indexOf("\r\n\r\n");
  if (end >= 0 && end + 4 <= HEAD_MAX_BYTES) return end + 4;
  if (end >= 0 || bytes.length > HEAD_MAX_BYTES)
    throw new HeadError(431, "The head of the request is too long.");
  return -1;
}

/**
 * Reads a request's head strictly (RFC 9112): whatever two servers could read in two ways is refused, so that nobody
 * disagrees about where a message ends.
 * @param bytes begin with the whole head, blank line included, which is `length` long
 * @throws HeadError
 */
export function readRequestHead(bytes: Buffer, length = bytes.length): RequestHead {
  const { line, block } = partsOf(bytes, 0, length);
  const [, method, target, major, minor] = REQUEST_LINE.exec(line) ?? [];
  if (method === undefined || target === undefined)
    throw new HeadError(400, "The request line cannot be read.");
  if (major !== "1") throw new HeadError(505, "Only HTTP/1.1 is spoken here.");
  const version = minor === "0" ? "1.0" : "1.1";
  if (!target.startsWith("/") && !(target === "*" && method === "OPTIONS")) {
    throw new HeadError(400, "The request target must begin with a slash.");
  }
  const fields = readFields(block);
  const connection = tokensOf(fields, "connection");
  return {
    method,
    target,
    version,
    fields,
    host: hostOf(fields, version),
    framing: requestFraming(fields, version),
    keepAlive: version === "1.1" ? !connection.includes("close") : connection.includes("keep-alive"),
    upgrade: connection.includes("upgrade") ? (fieldOf(fields, "upgrade") ?? null) : null,
  };
}

/** The first line of a head, and its fields, checked. */
function partsOf(bytes: Buffer, from: number, to: number): { line: string; block: string } {
  const text = bytes.toString("latin1", from, to - 4);
  const end = text.indexOf("\r\n");
  if (end < 0) return { line: text, block: "" };
  const block = text.slice(end);
  if (!FIELDS.test(block)) throw new HeadError(400, "A header field cannot be read.");
  return { line: text.slice(0, end), block };
}

function readFields(block: string): Field[] {
  if (block === "") return [];
  const lines = block.slice(2).split("\r\n");
  if (lines.length > FIELDS_MAX) throw new HeadError(431, "The request has too many header fields.");
  return lines.map((line) => {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    return { name, key: name.toLowerCase(), value: withoutBlanks(line.slice(colon + 1)) };
  });
}

/** Tabs are no blanks: some servers disagree there. */
function withoutBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) === SPACE) from++;
  while (to > from && text.charCodeAt(to - 1) === SPACE) to--;
  return text.slice(from, to);
}

const SPACE = 0x20;

/** HTTP/1.1 names its host, once; HTTP/1.0 may leave it out. */
function hostOf(fields: readonly Field[], version: "1.0" | "1.1"): string {
  const hosts = fields.filter(({ key }) => key === "host");
  if (hosts.length > 1 || (hosts.length === 0 && version === "1.1")) {
    throw new HeadError(400, "A request names its host once.");
  }
  const host = hosts[0]?.value ?? "";
  if (/[^A-Za-z0-9._~:[\]-]/.test(host)) throw new HeadError(400, "The Host header cannot be read.");
  return host;
}

/** Length and chunked together, or either twice, is how requests are smuggled (RFC 9112, 11.2). */
function requestFraming(fields: readonly Field[], version: "1.0" | "1.1"): Framing {
  const codings = fields.filter(({ key }) => key === "transfer-encoding");
  const lengths = fields.filter(({ key }) => key === "content-length");
  if (codings.length + lengths.length > 1) throw new HeadError(400, "The length of the body is given twice.");
  const [coding] = codings;
  if (coding) {
    if (version === "1.0") throw new HeadError(400, "HTTP/1.0 has no transfer coding.");
    if (coding.value.toLowerCase() !== "chunked")
      throw new HeadError(501, "The transfer coding is not known here.");
    return { kind: "chunked" };
  }
  const [length] = lengths;
  return length ? { kind: "length", bytes: readLength(length.value) } : { kind: "none" };
}

function readLength(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new HeadError(400, "The Content-Length cannot be read.");
  return Number(value);
}

/** The comma-separated words of a field, in lower case. */
export function tokensOf(fields: readonly Field[], key: string): string[] {
  const words: string[] = [];
  for (const field of fields) {
    if (field.key !== key) continue;
    for (const word of field.value.toLowerCase().split(",")) words.push(word.trim());
  }
  return words;
}

/** The value of a field that may stand once. */
export function fieldOf(fields: readonly Field[], key: string): string | undefined {
  return fields.find((field) => field.key === key)?.value;
}

export interface ResponseHead {
  status: number;
  framing: Framing;
  /** Whether the server takes another request on this connection. */
  keepAlive: boolean;
  /** It never ends by itself, and whoever reads it comes again when it does. */
  isEventStream: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/**
 * Reads of a response's head what tells where the response ends. Everything else passes unread.
 * @param bytes hold the whole head, blank line included, from `from` to `to`
 * @param method of the request that it answers
 * @throws HeadError when that cannot be told
 */
export function readResponseHead(bytes: Buffer, from: number, to: number, method: string): ResponseHead {
  const { line, block } = partsOf(bytes, from, to);
  const [, minor, digits] = STATUS_LINE.exec(line) ?? [];
  if (digits === undefined) throw new HeadError(400, "The answer is not HTTP.");
  const status = Number(digits);
  const fields = tellingFields(block);
  const connection = tokensOf(fields, "connection");
  const keepAlive = minor === "1" ? !connection.includes("close") : connection.includes("keep-alive");
  const framing = responseFraming(fields, status, method);
  const isEventStream = /^text\/event-stream\b/i.test(fieldOf(fields, "content-type") ?? "");
  return { status, framing, keepAlive: keepAlive && framing.kind !== "close", isEventStream };
}

/** Those fields of a response that tell where it ends, and what kind of stream it is. */
function tellingFields(block: string): Field[] {
  const fields: Field[] = [];
  for (let at = 2; at < block.length; ) {
    const found = block.indexOf("\r\n", at);
    const end = found < 0 ? block.length : found;
    // few fields begin with these letters
    if (/[ct]/i.test(block.charAt(at))) {
      const colon = block.indexOf(":", at);
      const name = block.slice(at, colon);
      const key = name.toLowerCase();
      if (TELLING.has(key)) fields.push({ name, key, value: withoutBlanks(block.slice(colon + 1, end)) });
    }
    at = end + 2;
  }
  return fields;
}

const TELLING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "transfer-encoding",
]);

function responseFraming(fields: readonly Field[], status: number, method: string): Framing {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return { kind: "none" };
  const codings = tokensOf(fields, "transfer-encoding");
  const lengths = new Set(tokensOf(fields, "content-length"));
  if (codings.length > 0) {
    if (codings.length > 1 || codings[0] !== "chunked" || lengths.size > 0) {
      throw new HeadError(400, "The length of the answer is given twice.");
    }
    return { kind: "chunked" };
  }
  if (lengths.size > 1) throw new HeadError(400, "The length of the answer is given twice.");
  const [length] = lengths;
  return length === undefined ? { kind: "close" } : { kind: "length", bytes: readLength(length) };
}
