import { SvcError } from "../../contract/errors.ts";
import { field, isObject } from "../../contract/json.ts";
import type { ModelRoute } from "./paths.ts";

/** A request for a model. Its bytes are forwarded as they came, but for the edits that `bodyFor` makes. */
export interface ModelRequest {
  model: string;
  /** Whether svc must ask for the usage of this stream, since the client did not: then the client must not see it. */
  addsUsage: boolean;
  /** The request for an upstream's own name of the model. */
  bodyFor(name: string): Uint8Array<ArrayBuffer>;
  /** An estimate of the prompt's tokens, for a call whose usage is never reported. */
  estimatedInput: number;
}

/** A member of the top-level object: where its value is. */
interface Member {
  key: string;
  start: number;
  end: number;
}

/** Keys that decide what is called and measured. Parsers differ in which of two they use. */
const DISTINCT = ["model", "stream", "stream_options", "background"];
const MODEL_MAX = 256;
/** The usual rule of thumb for English text and code. */
const BYTES_PER_TOKEN = 4;
/** Images and files, which are far cheaper than text of their length. */
const BASE64_RUN = /[A-Za-z0-9+/_=-]{1024,}/g;

/**
 * Reads the body of a call.
 * @throws invalid_json; validation_failed without a model, with a repeated key, and for a background response, whose usage
 *   svc would not see
 */
export function readModelRequest({ kind }: ModelRoute, bytes: Uint8Array<ArrayBuffer>): ModelRequest {
  const body = parse(bytes);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const members = membersOf(buffer);
  const twice = DISTINCT.find((name) => members.filter(({ key }) => key === name).length > 1);
  if (twice !== undefined)
    throw new SvcError("validation_failed", `The body has "${twice}" twice. Send it once.`);
  const { model } = body;
  if (typeof model !== "string" || model === "" || model.length > MODEL_MAX)
    throw new SvcError("validation_failed", "model is required: the name of a model.");
  if (kind === "responses" && body["background"] === true)
    throw new SvcError(
      "validation_failed",
      "Background responses are not supported: their usage cannot be measured. Leave out background.",
    );
  const options = body["stream_options"];
  const addsUsage = kind === "chat" && body["stream"] === true && field(options, "include_usage") !== true;
  const edits = addsUsage ? [usageEdit(buffer, members)] : [];
  const place = members.find(({ key }) => key === "model");
  return {
    model,
    addsUsage,
    bodyFor(name) {
      const rename =
        name !== model && place ? [{ start: place.start, end: place.end, text: JSON.stringify(name) }] : [];
      return apply(bytes, [...edits, ...rename]);
    },
    estimatedInput: estimate(buffer),
  };
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new SvcError("invalid_json", "The body is not JSON in UTF-8.");
  }
  if (!isObject(body)) throw new SvcError("validation_failed", "The body must be a JSON object.");
  return body;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Adds `stream_options.include_usage`, and keeps the client's other options. */
function usageEdit(buffer: Buffer, members: readonly Member[]): Edit {
  const place = members.find(({ key }) => key === "stream_options");
  if (!place) {
    const start = buffer.indexOf(0x7b) + 1;
    return { start, end: start, text: '"stream_options":{"include_usage":true},' };
  }
  const value: unknown = JSON.parse(buffer.toString("utf8", place.start, place.end));
  const text = JSON.stringify({ ...(isObject(value) ? value : {}), include_usage: true });
  return { start: place.start, end: place.end, text };
}

function apply(bytes: Uint8Array<ArrayBuffer>, edits: readonly Edit[]): Uint8Array<ArrayBuffer> {
  if (edits.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    parts.push(bytes.subarray(from, start), Buffer.from(text));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}

function estimate(buffer: Buffer): number {
  const runs = buffer.toString("latin1").match(BASE64_RUN) ?? [];
  const encoded = runs.reduce((sum, run) => sum + run.length, 0);
  return Math.ceil((buffer.byteLength - encoded) / BYTES_PER_TOKEN);
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The members of an object, from its bytes. @param buffer a valid JSON object */
export function membersOf(buffer: Buffer): Member[] {
  const members: Member[] = [];
  let at = skipBlanks(buffer, buffer.indexOf(0x7b) + 1);
  while (buffer[at] === QUOTE) {
    const keyEnd = skipString(buffer, at);
    const key: unknown = JSON.parse(buffer.toString("utf8", at, keyEnd));
    const colon = skipBlanks(buffer, keyEnd);
    const start = skipBlanks(buffer, colon + (buffer[colon] === COLON ? 1 : 0));
    const end = skipValue(buffer, start);
    members.push({ key: String(key), start, end });
    const next = skipBlanks(buffer, end);
    if (buffer[next] !== COMMA) break;
    at = skipBlanks(buffer, next + 1);
  }
  return members;
}

function skipBlanks(buffer: Buffer, from: number): number {
  let at = from;
  while (BLANK.has(buffer[at] ?? 0)) at++;
  return at;
}

/** @returns the index behind the string that begins at `from` */
function skipString(buffer: Buffer, from: number): number {
  let end = from;
  for (;;) {
    end = buffer.indexOf(QUOTE, end + 1);
    if (end < 0) return buffer.length;
    let slashes = 0;
    while (buffer[end - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
}

/** @returns the index behind the value that begins at `from` */
function skipValue(buffer: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < buffer.length) {
    const byte = buffer[at] ?? 0;
    if (byte === QUOTE) {
      at = skipString(buffer, at);
      if (depth === 0) return at;
      continue;
    }
    if (depth === 0 && at > from && (byte === COMMA || CLOSE.has(byte) || BLANK.has(byte))) return at;
    if (OPEN.has(byte)) depth++;
    if (CLOSE.has(byte)) depth--;
    at++;
    if (depth === 0 && CLOSE.has(byte)) return at;
  }
  return at;
}
