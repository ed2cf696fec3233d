import { PROMPT_MAX_BYTES } from "../../contract/limits.ts";
import { PLACEHOLDER } from "../../contract/template.ts";

const CUT = "\n[… cut by svc: longer than the limit of a prompt]";

/** The variables of a template. */
export type Context = Readonly<Record<string, unknown>>;

/**
 * Replaces the placeholders of a template, `{{ dotted.path }}`, with values of the context; there is no other logic. An
 * unknown path becomes empty. Strings are inserted as they are, all other values as JSON. Only own properties are
 * followed. The result is cut at the limit of a session's first prompt.
 * @param mark marks values from untrusted sources
 * @param prefix is put before the result
 */
export function render(
  template: string,
  context: Context,
  mark: (text: string, root: string) => string = (text) => text,
  prefix = "",
): string {
  let budget = PROMPT_MAX_BYTES;
  const filled = template.replace(PLACEHOLDER, (_, path: string) => {
    const [root = "", ...rest] = path.split(".");
    const text = budget > 0 ? textOf(follow(context, [root, ...rest])) : "";
    // a placeholder that is repeated must not produce gigabytes
    budget -= Buffer.byteLength(text);
    return text === "" ? "" : mark(text, root);
  });
  return truncate(prefix + filled.replaceAll("\0", "\u{fffd}").toWellFormed());
}

/** Whether a template has a placeholder that begins with this name. */
export function names(template: string, root: string): boolean {
  return [...template.matchAll(PLACEHOLDER)].some(([, path = ""]) => path.split(".")[0] === root);
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

function truncate(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= PROMPT_MAX_BYTES) return text;
  const kept = bytes.subarray(0, PROMPT_MAX_BYTES - Buffer.byteLength(CUT)).toString();
  // a cut within a character decodes as U+FFFD
  return kept.replace(/\u{fffd}$/u, "") + CUT;
}
