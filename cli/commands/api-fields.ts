import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { readText } from "../input.ts";
import { oneLine } from "../text.ts";

/** `-F a[b][]=1`: a path and a value. */
export interface Field {
  path: string[];
  value: string | number | boolean | null;
}

/** Parses `-F` (typed; `@path` is a file), then `-f` (raw text). @throws CliError `usage`. */
export async function readFields(
  context: Context,
  typed: readonly string[],
  raw: readonly string[],
): Promise<Field[]> {
  const fields: Field[] = [];
  if (typed.filter((text) => text.endsWith("=@-")).length > 1) {
    throw usage("Standard input can be read only once: only one field may be @-.");
  }
  for (const text of typed) {
    const { path, value } = split(text, "-F");
    fields.push({ path, value: await typedValue(context, value) });
  }
  for (const text of raw) fields.push(split(text, "-f"));
  return fields;
}

function split(text: string, flag: string): { path: string[]; value: string } {
  const at = text.indexOf("=");
  const key = at < 0 ? "" : text.slice(0, at);
  const [, first, rest = ""] = /^([^[\]=]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? [];
  if (first === undefined) {
    throw usage(`${flag} must be key=value: ${oneLine(text).slice(0, 100)}`, "For example: -F status=all");
  }
  const path = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map((match) => match[1] ?? "")];
  return { path, value: text.slice(at + 1) };
}

async function typedValue(context: Context, value: string): Promise<Field["value"]> {
  if (value === "true" || value === "false") return value === "true";
  if (value === "null") return null;
  if (/^-?(0|[1-9]\d{0,14})$/.test(value)) return Number(value);
  return value.startsWith("@") ? readText(context, value.slice(1), "-F") : value;
}

/** Fields as a query; nested keys keep their brackets. */
export function toQuery(fields: readonly Field[]): [string, string][] {
  return fields.map(({ path: [first = "", ...rest], value }) => [
    first + rest.map((part) => `[${part}]`).join(""),
    String(value),
  ]);
}

/** Fields as a JSON object: `a[b]=1` nests, `a[]=1` appends. @throws CliError `usage` if they conflict. */
export function toBody(fields: readonly Field[]): unknown {
  const root: Tree = new Map();
  for (const { path, value } of fields) put(root, path, value);
  return plain(root);
}

type Leaf = Field["value"];
type Tree = Map<string, Tree | Leaf[] | Leaf>;

function put(tree: Tree, path: readonly string[], value: Leaf): void {
  const [key = "", next, ...deeper] = path;
  const existing = tree.get(key);
  const clash = () => usage(`The field ${oneLine(path.join("."))} is given with conflicting types.`);
  if (next === undefined) {
    if (existing !== undefined) throw clash();
    tree.set(key, value);
  } else if (next === "" && deeper.length === 0) {
    if (existing !== undefined && !Array.isArray(existing)) throw clash();
    tree.set(key, [...(existing ?? []), value]);
  } else {
    const branch: Tree | Leaf[] | Leaf = existing === undefined ? new Map() : existing;
    if (!(branch instanceof Map)) throw clash();
    tree.set(key, branch);
    put(branch, [next, ...deeper], value);
  }
}

/** `Object.fromEntries` defines properties, so `__proto__` is an ordinary key. */
function plain(tree: Tree): unknown {
  return Object.fromEntries(
    [...tree].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]),
  );
}
