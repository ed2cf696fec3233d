import { HIDDEN, HIDDEN_IN_TEXT } from "../src/contract/hidden.ts";

/** Words from elsewhere on one line: whatever a terminal would act on is spelled out (`\x1b`, `\u202e`). */
export const oneLine = (text: string): string => text.replace(HIDDEN, spell);

/** Words from elsewhere on several lines: as `oneLine`, but line feeds and tabs stay. */
export const lines = (text: string): string => text.replaceAll("\r\n", "\n").replace(HIDDEN_IN_TEXT, spell);

/** JSON that a terminal shows and never acts on: the same value, with those characters as `\u` escapes. */
export const safeJson = (json: string): string => json.replace(HIDDEN_IN_TEXT, escapeForJson);

/** A line of another program's output: its colours are taken away, the rest is as in `oneLine`. */
export const logText = (text: string): string => oneLine(Bun.stripANSI(text).trimEnd());

function spell(character: string): string {
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

/** A word as it can be pasted into a POSIX shell. */
export function shellWord(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `1 file`, `2 files`. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
