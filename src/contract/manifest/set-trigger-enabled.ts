import { parseFile, validItems } from "./file.ts";
import { type Position, positionsOf } from "./positions.ts";
import { problemsOf } from "./shape.ts";
import { manifestShape } from "./tables.ts";
import { readTrigger, triggersShape } from "./triggers.ts";

/**
 * Enables or disables a trigger in the text of a manifest: replaces the value, or adds the key in the style of the file.
 * Leaves every other character unchanged. To leave every byte unchanged, decode the text with its byte order mark
 * (`ignoreBOM`) and without replacements (`fatal`).
 * @returns the same text if it is already set; null if the file has no valid trigger with this slug
 */
export function setTriggerEnabled(text: string, slug: string, enabled: boolean): string | null {
  const { root } = parseFile(text);
  if (!root) return null;
  const triggers = validItems(root, "triggers", triggersShape, problemsOf(manifestShape, root, []));
  const found = triggers
    .map(({ index, item }) => ({ index, trigger: readTrigger(item) }))
    .find(({ trigger }) => trigger.slug === slug);
  if (!found) return null;
  const position = positionsOf(text).entries.get("triggers")?.items[found.index];
  const slugPosition = position?.entries.get("slug");
  if (!position || !slugPosition?.value) return null;
  if (found.trigger.enabled === enabled) return text;
  const current = position.entries.get("enabled")?.value;
  if (current) return splice(text, current.start, current.end, String(enabled));
  const entry = likeSlug(text, slugPosition, slugPosition.value.start, enabled);
  const isInline = position.value !== null;
  return isInline
    ? splice(text, slugPosition.value.end, slugPosition.value.end, `, ${entry}`)
    : withLine(text, slugPosition, slugPosition.value.end, entry);
}

const splice = (text: string, start: number, end: number, by: string): string =>
  text.slice(0, start) + by + text.slice(end);

/** The entry with the same spacing around `=` as the slug, aligned with it if possible. */
function likeSlug(text: string, slug: Position, valueStart: number, enabled: boolean): string {
  const written = text.slice(slug.at, valueStart);
  const [, before = " ", after = " "] = /([ \t]*)=([ \t]*)$/.exec(written) ?? [];
  const column = written.lastIndexOf("=");
  const isAligned = before.length > 1 && !before.includes("\t");
  const blanks = isAligned ? " ".repeat(Math.max(1, column - KEY.length)) : before;
  return `${KEY}${blanks}=${after}${enabled}`;
}

const KEY = "enabled";

/** Adds the entry on a new line below the slug. */
function withLine(text: string, slug: Position, valueEnd: number, entry: string): string {
  const indent = text.slice(text.lastIndexOf("\n", slug.at - 1) + 1, slug.at);
  const next = text.indexOf("\n", valueEnd);
  if (next < 0) return `${text}${text.includes("\r\n") ? "\r\n" : "\n"}${indent}${entry}`;
  const lineEnd = text[next - 1] === "\r" ? "\r\n" : "\n";
  return splice(text, next + 1, next + 1, `${indent}${entry}${lineEnd}`);
}
