import { COMMIT_MESSAGE_MAX_BYTES, COMMIT_NAME_MAX } from "../../contract/limits.ts";
import type { LoggedCommit, Signature } from "../git.ts";

/**
 * Parses a commit object in the encoding that it names, else UTF-8; U+FFFD replaces invalid bytes.
 * @param bytes the object, or only its beginning when `isWhole` is false: then missing fields are empty
 */
export function parseCommit(id: string, bytes: Uint8Array, isWhole: boolean): LoggedCommit {
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const blank = object.indexOf("\n\n");
  const headEnd = blank < 0 ? object.length : blank;
  const lines = object.toString("latin1", 0, headEnd).split("\n");
  const decode = decoderOf(headerOf(lines, "encoding"));
  const message = blank < 0 ? object.subarray(object.length) : object.subarray(blank + 2);
  const shown = message.subarray(0, COMMIT_MESSAGE_MAX_BYTES);
  const truncated = !isWhole || shown.length < message.length;
  return {
    id,
    parents: parentsOf(lines, id.length),
    author: signatureOf(headerOf(lines, "author"), decode),
    committer: signatureOf(headerOf(lines, "committer"), decode),
    // a character that was cut in two
    ...splitMessage(truncated ? decode(shown).replace(/\ufffd$/, "") : decode(shown)),
    truncated,
  };
}

type Decode = (bytes: Uint8Array) => string;

/** The parents follow the tree; the last one may be incomplete. */
function parentsOf(lines: readonly string[], idLength: number): string[] {
  const end = lines.findIndex((line, at) => at > 0 && !line.startsWith("parent "));
  return lines
    .slice(1, end < 0 ? lines.length : end)
    .map((line) => line.slice("parent ".length))
    .filter((parent) => parent.length === idLength);
}

function headerOf(lines: readonly string[], name: string): string {
  return lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
}

function decoderOf(encoding: string): Decode {
  // what the web calls by this name is Windows-1252
  if (/^(?:iso-?8859-1|latin-?1)$/i.test(encoding)) return (bytes) => Buffer.from(bytes).toString("latin1");
  const decoder = decoderNamed(encoding) ?? new TextDecoder("utf-8", { ignoreBOM: true });
  return (bytes) => decoder.decode(bytes);
}

function decoderNamed(encoding: string): TextDecoder | null {
  if (encoding === "") return null;
  try {
    return new TextDecoder(encoding, { ignoreBOM: true });
  } catch {
    return null;
  }
}

/** As git reads it: `<name> <<email>> <seconds> <zone>`; the line is bytes in latin1. */
function signatureOf(line: string, decode: Decode): Signature {
  const [, name = "", email = ""] = /^([^<]*)<([^>]*)>/.exec(line) ?? [];
  const text = (bytes: string) =>
    decode(Buffer.from(bytes, "latin1")).trim().slice(0, COMMIT_NAME_MAX).toWellFormed();
  return { name: text(name), email: text(email), date: dateOf(line.slice(line.lastIndexOf(">") + 1)) };
}

/** The last second of the year 9999, the limit of dates in the API. */
const SECONDS_MAX = 253_402_300_799;

function dateOf(text: string): Date | null {
  const seconds = Number(/^\s*(\d{1,12})(?:\s|$)/.exec(text)?.[1] ?? Number.NaN);
  return seconds <= SECONDS_MAX ? new Date(seconds * 1000) : null;
}

/** As git does: the subject is the first paragraph on one line, the body what follows the blank lines after it. */
function splitMessage(message: string): { subject: string; body: string } {
  const lines = message.split("\n");
  const start = next(lines, 0, (line) => !isBlank(line));
  const end = next(lines, start, isBlank);
  const body = next(lines, end, (line) => !isBlank(line));
  return {
    subject: lines
      .slice(start, end)
      .map((line) => line.trimEnd())
      .join(" "),
    body: lines.slice(body).join("\n").trimEnd(),
  };
}

function isBlank(line: string): boolean {
  return line.trim() === "";
}

function next(lines: readonly string[], from: number, fits: (line: string) => boolean): number {
  const at = lines.findIndex((line, index) => index >= from && fits(line));
  return at < 0 ? lines.length : at;
}
