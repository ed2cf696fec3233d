import { PROMPT_MAX_BYTES } from "../../contract/limits.ts";
import { PLACE } from "../../contract/template.ts";

const CUT = "\n[… cut by svc: longer than a prompt may be]";

/** What a template's places may name. */
export type Context = Readonly<Record<string, unknown>>;

/**
 * Fills the places of a template, `{{ dotted.path }}`, from what a firing knows; there is no other logic. A path that
 * leads nowhere is empty; text stands as it is, all else as JSON. Only a value's own properties are followed.
 * What is longer than a session's first prompt may be is cut.
 * @param outside marks text that somebody outside of svc has chosen
 * @param before stands before it all
 */
export function render(
  template: string,
  context: Context,
  outside: (text: string, root: string) => string = (text) => text,
  before = "",
): string {
  let room = PROMPT_MAX_BYTES;
  const filled = template.replace(PLACE, (_, path: string) => {
    const [root = "", ...rest] = path.split(".");
    const text = room > 0 ? textOf(follow(context, [root, ...rest])) : "";
    // a place that is named again and again must not make gigabytes
    room -= Buffer.byteLength(text);
    return text === "" ? "" : outside(text, root);
  });
  return bounded(before + filled.replaceAll("\0", "\u{fffd}").toWellFormed());
}

/** Whether a template has a place that begins with this name. */
export function names(template: string, root: string): boolean {
  return [...template.matchAll(PLACE)].some(([, path = ""]) => path.split(".")[0] === root);
}

function follow(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // nested too deeply
    return "";
  }
}

function bounded(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= PROMPT_MAX_BYTES) return text;
  const kept = bytes.subarray(0, PROMPT_MAX_BYTES - Buffer.byteLength(CUT)).toString();
  // what is cut within a character decodes as U+FFFD
  return kept.replace(/\u{fffd}$/u, "") + CUT;
}
