import { goodItems, parseFile } from "./file.ts";
import { type Place, placesOf } from "./places.ts";
import { problemsOf } from "./shape.ts";
import { manifestShape } from "./tables.ts";
import { readTrigger, triggersShape } from "./triggers.ts";

/**
 * The text of a manifest with one trigger on or off: that one value is another, or the one key is added where it was
 * not said, in the way that the file itself is written. Every other character stays; so that every byte does, the text
 * has to be decoded with its byte order mark (`ignoreBOM`) and with nothing replaced (`fatal`).
 * @returns the same text where it says so already; null where the file has no such trigger without an error
 */
export function setTriggerEnabled(text: string, slug: string, enabled: boolean): string | null {
  const { root } = parseFile(text);
  if (!root) return null;
  const triggers = goodItems(root, "triggers", triggersShape, problemsOf(manifestShape, root, []));
  const found = triggers
    .map(({ index, item }) => ({ index, trigger: readTrigger(item) }))
    .find(({ trigger }) => trigger.slug === slug);
  if (!found) return null;
  const place = placesOf(text).entries.get("triggers")?.items[found.index];
  const slugPlace = place?.entries.get("slug");
  if (!place || !slugPlace?.value) return null;
  if (found.trigger.enabled === enabled) return text;
  const said = place.entries.get("enabled")?.value;
  if (said) return splice(text, said.start, said.end, String(enabled));
  const entry = likeSlug(text, slugPlace, slugPlace.value.start, enabled);
  const isInline = place.value !== null;
  return isInline
    ? splice(text, slugPlace.value.end, slugPlace.value.end, `, ${entry}`)
    : withLine(text, slugPlace, slugPlace.value.end, entry);
}

const splice = (text: string, start: number, end: number, by: string): string =>
  text.slice(0, start) + by + text.slice(end);

/** The entry with the blanks that stand around the `=` of the slug, whose column it keeps where it can. */
function likeSlug(text: string, slug: Place, valueStart: number, enabled: boolean): string {
  const written = text.slice(slug.at, valueStart);
  const [, before = " ", after = " "] = /([ \t]*)=([ \t]*)$/.exec(written) ?? [];
  const column = written.lastIndexOf("=");
  const isAligned = before.length > 1 && !before.includes("\t");
  const blanks = isAligned ? " ".repeat(Math.max(1, column - KEY.length)) : before;
  return `${KEY}${blanks}=${after}${enabled}`;
}

const KEY = "enabled";

/** A line of its own, below the one of the slug. */
function withLine(text: string, slug: Place, valueEnd: number, entry: string): string {
  const indent = text.slice(text.lastIndexOf("\n", slug.at - 1) + 1, slug.at);
  const next = text.indexOf("\n", valueEnd);
  if (next < 0) return `${text}${text.includes("\r\n") ? "\r\n" : "\n"}${indent}${entry}`;
  const lineEnd = text[next - 1] === "\r" ? "\r\n" : "\n";
  return splice(text, next + 1, next + 1, `${indent}${entry}${lineEnd}`);
}
