/**
 * Reads a dotenv file: `NAME=value`, `export NAME=value`, `#` comments, values in single quotes (as they are) or in
 * double quotes (with the escapes `\n`, `\r`, `\t`, `\"`, `\\` and `\$`), which may span lines. Unquoted values are trimmed and
 * end at a blank followed by `#`. Variables are not expanded. The last value of a name counts.
 * @returns the values by name, or the first line that cannot be parsed
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

/** @returns the value and its length with the line's end, or why it cannot be parsed */
function readValue(rest: string): { text: string; length: number } | string {
  const quote = rest[0];
  if (quote !== "'" && quote !== '"') {
    const line = /^[^\n]*\n?/.exec(rest)?.[0] ?? "";
    return { text: line.replace(/(?:^|[ \t])#[^\n]*/, "").trim(), length: line.length };
  }
  const quoted = (quote === "'" ? /^'([^']*)'/ : /^"((?:[^"\\]|\\[\s\S])*)"/).exec(rest);
  if (!quoted) return `its ${quote} is not closed`;
  const [whole, inner = ""] = quoted;
  const end = END.exec(rest.slice(whole.length))?.[0];
  if (end === undefined) return "there is text after the quoted value";
  const text =
    quote === "'" ? inner : inner.replace(/\\([\s\S])/g, (all, next: string) => ESCAPES[next] ?? all);
  return { text, length: whole.length + end.length };
}
