import { HIDDEN, HIDDEN_IN_TEXT } from "../src/contract/hidden.ts";

/** Sanitizes untrusted text for one line: control characters are escaped (`\x1b`, `\u202e`). */
export const oneLine = (text: string): string => text.replace(HIDDEN, escapeCharacter);

/** Like `oneLine`, but keeps line feeds and tabs. */
export const lines = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(HIDDEN_IN_TEXT, escapeCharacter);

/** Sanitizes JSON for a terminal: the same value, with control characters as `\u` escapes. */
export const safeJson = (json: string): string => json.replace(HIDDEN_IN_TEXT, escapeForJson);

/** Sanitizes a line of a program's output: removes colours, then as `oneLine`. */
export const logText = (text: string): string => oneLine(Bun.stripANSI(text).trimEnd());

function escapeCharacter(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\r") return "\\r";
  if (character === "\t") return "\\t";
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

function escapeForJson(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** A URL for display: on one line and without credentials. */
export const displayUrl = (url: string): string =>
  oneLine(url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1"));

/** Quotes a word for a POSIX shell. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `1 file`, `2 files`. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;

/** A cost in US dollars: a small one to the hundredth of a cent. */
export function costText(cost: number): string {
  return `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

/** `312 bytes`, `4.0 KiB`, `1.5 GiB`. */
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < UNITS.length; unit++) value /= 1024;
  return unit === 0 ? count(bytes, "byte") : `${value.toFixed(1)} ${UNITS[unit - 1]}`;
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"];
