/**
 * What a terminal acts on instead of showing: control characters, direction marks, other invisible formatting,
 * line separators and lone surrogates. The joiners stay, since emoji and several scripts are written with them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]|(?![\u00ad\u200c\u200d])\p{Cf}/gu;
/** The same, but for what lays out text: line feed and tab. */
const UNSAFE_IN_TEXT =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]|(?![\u00ad\u200c\u200d])\p{Cf}/gu;

/** Words from elsewhere on one line: whatever a terminal would act on is spelled out (`\x1b`, `\u202e`). */
export const oneLine = (text: string): string => text.replace(UNSAFE, spell);

/** Words from elsewhere on several lines: as `oneLine`, but line feeds and tabs stay. */
export const lines = (text: string): string => text.replaceAll("\r\n", "\n").replace(UNSAFE_IN_TEXT, spell);

/** JSON that a terminal shows and never acts on: the same value, with the characters above as `\u` escapes. */
export const safeJson = (json: string): string => json.replace(UNSAFE_IN_TEXT, escapeForJson);

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
