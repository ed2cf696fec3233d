import { parse } from "smol-toml";

/** Characters of a manifest in which lines are looked for: several times a long one. */
const TEXT_MAX = 16 * 1024;
/** Times that a part of the file is parsed: enough for every line of an honest one, and soon over for a hostile one. */
const PARSES_MAX = 64;

/**
 * Finds the lines on which keys are set. A key stands on the line with which it first appears: the lines above parse
 * without it, and with this one they parse and have it.
 * @returns the line from 1; null where the file is too long, or the key is inside of something that spans lines
 */
export function lineFinder(text: string): (path: readonly string[]) => number | null {
  if (text.length > TEXT_MAX) return () => null;
  const lines = text.split("\n");
  const heads = new Map<number, unknown>();
  const head = (length: number): unknown => {
    if (!heads.has(length) && heads.size < PARSES_MAX) heads.set(length, parsed(lines.slice(0, length)));
    return heads.get(length);
  };
  return (path) => {
    const word = path.at(-1) ?? "";
    const at = lines.findIndex((line, index) => {
      if (!line.includes(word)) return false;
      const above = head(index);
      return above !== undefined && !has(above, path) && has(head(index + 1), path);
    });
    return at < 0 ? null : at + 1;
  };
}

function parsed(lines: readonly string[]): unknown {
  try {
    return parse(`${lines.join("\n")}\n`, { integersAsBigInt: "asNeeded" });
  } catch {
    return undefined;
  }
}

function has(table: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (key === undefined) return true;
  if (typeof table !== "object" || table === null || !Object.hasOwn(table, key)) return false;
  return has(Reflect.get(table, key), rest);
}
