/**
 * Reads a dotenv file: `NAME=value`, `export NAME=value`, `#` comments, values in single quotes (as they are) or in
 * double quotes (`\n`, `\r`, `\t`, `\"`, `\\` and `\$` are escapes), both over several lines if need be. Of a plain
 * value the blanks around it and a comment after a blank are left out. No variable is replaced. The last of a name counts.
 * @returns the values by their names, or the first line that cannot be read
 */
export function readDotenv(text: string): { values: Map<string, string> } | { line: number; reason: string } {
  const values = new Map<string, string>();
  const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  for (let at = 0; at < source.length; ) {
    const rest = source.slice(at);
    const skipped = /^[ \t]*(?:#[^\n]*)?(?:\n|$)/.exec(rest)?.[0];
    if (skipped) {
      at += skipped.length;
      continue;
    }
    const line = source.slice(0, at).split("\n").length;
    const head = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/.exec(rest);
    if (!head) return { line, reason: "it is not NAME=VALUE" };
    const value = readValue(rest.slice(head[0].length));
    if (typeof value === "string") return { line, reason: value };
    values.set(head[1] ?? "", value.text);
    at += head[0].length + value.length;
  }
  return { values };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", $: "$" };
/** After a quoted value. */
const END = /^[ \t]*(?:#[^\n]*)?(?:\n|$)/;

/** @returns the value and how long it is with its line's end, or why it cannot be read */
function readValue(rest: string): { text: string; length: number } | string {
  const quote = rest[0];
  if (quote !== "'" && quote !== '"') {
    const line = /^[^\n]*\n?/.exec(rest)?.[0] ?? "";
    return { text: line.replace(/(?:^|[ \t])#[^\n]*/, "").trim(), length: line.length };
  }
  const quoted = (quote === "'" ? /^'([^']*)'/ : /^"((?:[^"\\]|\\[\s\S])*)"/).exec(rest);
  if (!quoted) return `its ${quote} has no end`;
  const [whole, inner = ""] = quoted;
  const end = END.exec(rest.slice(whole.length))?.[0];
  if (end === undefined) return "something follows the quoted value";
  const text =
    quote === "'" ? inner : inner.replace(/\\([\s\S])/g, (all, next: string) => ESCAPES[next] ?? all);
  return { text, length: whole.length + end.length };
}
