/**
 * The first line of a file's part of a patch, as git writes it under `core.quotePath=false`: a name with a
 * control character, a quote or a backslash is quoted as in C (git's quote.c).
 */
export function blockHeader(path: Uint8Array, from: Uint8Array = path): Buffer {
  const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
  const [old, now] = [`a/${latin1(from)}`, `b/${latin1(path)}`].map(quoted);
  return Buffer.from(`diff --git ${old} ${now}\n`, "latin1");
}

function quoted(name: string): string {
  if (!UNSAFE.test(name)) return name;
  return `"${name.replace(ALL_UNSAFE, escaped)}"`;
}

function escaped(character: string): string {
  return SHORT[character] ?? `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

const UNSAFE = /[\x00-\x1f"\\\x7f]/;
const ALL_UNSAFE = new RegExp(UNSAFE, "g");
const SHORT: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};
