import { HeadError } from "./head-error.ts";

export interface Field {
  /** As it was written. */
  name: string;
  /** In lower case. */
  key: string;
  /** Without surrounding spaces; tabs stay, since servers disagree about them. Each character is a byte (latin1). */
  value: string;
}

/** A field within bytes: its name begins at `from` and ends with the colon, its value ends with the line, at `end`. */
type Visit = (from: number, colon: number, end: number) => void;

const FIELDS_MAX = 128;

/**
 * Reads the fields of a head strictly (RFC 9112, 5): no folded lines, no blank before the colon, no control characters.
 * @param bytes hold lines from `from` to `to`, each with its CRLF
 * @throws HeadError
 */
export function readFields(bytes: Buffer, from: number, to: number): Field[] {
  const text = bytes.toString("latin1", from, to);
  const fields: Field[] = [];
  eachField(bytes, from, to, (start, colon, end) => {
    const name = text.slice(start - from, colon - from);
    const value = withoutBlanks(text, colon + 1 - from, end - from);
    fields.push({ name, key: name.toLowerCase(), value });
  });
  return fields;
}

/**
 * Reads only the fields of these names, as strictly.
 * @param names in lower case, each at the index of its length: most other fields differ in length
 * @throws HeadError
 */
export function findFields(bytes: Buffer, from: number, to: number, names: readonly string[]): Field[] {
  const fields: Field[] = [];
  eachField(bytes, from, to, (start, colon, end) => {
    const key = names[colon - start];
    if (key === undefined || !isNamed(bytes, start, key)) return;
    const text = bytes.toString("latin1", colon + 1, end);
    fields.push({ name: key, key, value: withoutBlanks(text, 0, text.length) });
  });
  return fields;
}

function eachField(bytes: Buffer, from: number, to: number, visit: Visit): void {
  let count = 0;
  for (let at = from; at < to; count++) {
    const colon = endOf(NAME, bytes, at);
    const end = endOf(VALUE, bytes, colon);
    if (colon === at || bytes[colon] !== COLON || bytes[end] !== CR || bytes[end + 1] !== LF)
      throw new HeadError(400, "A header field cannot be read.");
    visit(at, colon, end);
    at = end + 2;
  }
  if (count > FIELDS_MAX) throw new HeadError(431, "The request has too many header fields.");
}

/** The bytes of a name (RFC 9110, 5.6.2), and of a value (5.5). */
const NAME = tableOf(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/);
const VALUE = tableOf(/[\t\x20-\x7e\x80-\xff]/);
const COLON = 0x3a;
const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const LOWER = 0x20;

/** 1 at each of these bytes. */
function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(characters.test(String.fromCharCode(byte))));
}

/** The index of the first byte not in the table, at the latest the end of the line. */
function endOf(table: Uint8Array, bytes: Uint8Array, from: number): number {
  let at = from;
  while (table[bytes[at] ?? CR] === 1) at++;
  return at;
}

/** Compares the name at `from`, of the same length, with `name` (letters and hyphens), ignoring case. */
function isNamed(bytes: Uint8Array, from: number, name: string): boolean {
  for (let at = 0; at < name.length; at++)
    if (((bytes[from + at] ?? CR) | LOWER) !== name.charCodeAt(at)) return false;
  return true;
}

/** @param text has no blank just before `from`, and none at `to` */
function withoutBlanks(text: string, from: number, to: number, isBlank = isSpace): string {
  let begin = from;
  let end = to;
  while (isBlank(text.charCodeAt(begin))) begin++;
  while (isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(begin, end);
}

/** Tabs around a value stay: servers disagree about them. */
function isSpace(code: number): boolean {
  return code === SPACE;
}

/** White space around the words of a list (RFC 9110, 5.6.3); trim() would remove more. */
function isSpaceOrTab(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** The comma-separated words of a field, in lower case. */
export function tokensOf(fields: readonly Field[], key: string): readonly string[] {
  let words: string[] | null = null;
  for (const field of fields) {
    if (field.key !== key) continue;
    words ??= [];
    const value = field.value.toLowerCase();
    for (const word of value.split(",")) words.push(withoutBlanks(word, 0, word.length, isSpaceOrTab));
  }
  return words ?? NO_WORDS;
}

const NO_WORDS: readonly string[] = [];

/** The value of the first field of this name. */
export function fieldOf(fields: readonly Field[], key: string): string | undefined {
  for (const field of fields) if (field.key === key) return field.value;
  return undefined;
}

export function isGivenTwice(fields: readonly Field[], key: string): boolean {
  let count = 0;
  for (const field of fields) if (field.key === key) count++;
  return count > 1;
}
