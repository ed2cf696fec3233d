/** C escape sequences that git uses in quoted names. */
const LETTERS: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};
const ESCAPE = /\\(?:([0-7]{1,3})|(.))|([^\\]+)/gsu;
const QUOTED = /^"((?:[^"\\]|\\.)*)"/s;
/** `a/` or `b/` before each name. */
const PREFIX = 2;

/** The file name in a line such as `rename to <name>`. */
export function readName(text: string): string {
  const quoted = QUOTED.exec(text);
  return quoted ? unquote(quoted[1] ?? "") : text;
}

/**
 * The file name in the header `diff --git a/<name> b/<name>`, whose names may be quoted. Unless it was renamed, both
 * names are equal, so a name with spaces is unambiguous.
 */
export function splitNames(text: string): string {
  const quoted = QUOTED.exec(text);
  if (quoted) return unquote(quoted[1] ?? "").slice(PREFIX);
  return text.slice(PREFIX, (text.length - 1) / 2);
}

/** Decodes a name quoted with `core.quotePath`: octal escapes are bytes of UTF-8. */
function unquote(text: string): string {
  const bytes: number[] = [];
  for (const [, octal, letter, plain = ""] of text.matchAll(ESCAPE)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (letter !== undefined) bytes.push(LETTERS[letter] ?? letter.charCodeAt(0));
    else bytes.push(...new TextEncoder().encode(plain));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
