import { parseFile } from "./file.ts";
import { readManifest } from "./manifest.ts";
import { readNetwork } from "./network.ts";
import { type Position, positionsOf } from "./positions.ts";

/**
 * Adds entries to `[network] allow` in the text of a manifest, in the style of the file, and leaves every other character
 * unchanged. Decode the text as for `setTriggerEnabled`.
 * @param entries in the form of `readEntry`
 * @returns the same text if the list has them all; null if the file cannot be edited so
 */
export function allowHosts(text: string, entries: readonly string[]): string | null {
  const { root } = parseFile(text);
  if (!root) return null;
  const { allow } = readNetwork(root);
  const missing = [...new Set(entries)].filter((entry) => !allow.includes(entry));
  if (missing.length === 0) return text;
  const edited = withEntries(text, missing);
  return isOnlyChange(text, edited, [...allow, ...missing]) ? edited : null;
}

/** Whether an edit has this list, and nothing else has changed. */
function isOnlyChange(before: string, after: string, allow: readonly string[]): boolean {
  const [old, now] = [readManifest(before).manifest, readManifest(after).manifest];
  if (!old || !now) return false;
  return JSON.stringify({ ...old, network: { ...old.network, allow } }) === JSON.stringify(now);
}

function withEntries(text: string, missing: readonly string[]): string {
  const values = missing.map((entry) => JSON.stringify(entry));
  const network = positionsOf(text).entries.get("network");
  if (!network) return withTable(text, values);
  const list = network.entries.get("allow");
  if (list?.value) return withItems(text, list, list.value.start, values);
  const entry = `allow = [${values.join(", ")}]`;
  const [first] = [...network.entries.values()].filter(({ value }) => value !== null);
  if (first?.value) {
    return network.value
      ? splice(text, first.value.end, `, ${entry}`)
      : withLine(text, first.value.end, text.slice(lineStart(text, first.at), first.at) + entry);
  }
  return network.value
    ? splice(text, network.value.start + 1, ` ${entry} `)
    : withLine(text, network.at, entry);
}

function withTable(text: string, values: readonly string[]): string {
  const eol = eolOf(text);
  const version = text.trim() === "" ? `svc_version = 1${eol}` : "";
  const before = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
  return `${before}${version}${eol}[network]${eol}allow = [${values.join(", ")}]${eol}`;
}

/** Adds items after the last one, on lines of their own if that has one. */
function withItems(text: string, list: Position, start: number, values: readonly string[]): string {
  const last = list.items.at(-1);
  if (!last?.value) return splice(text, start + 1, values.join(", "));
  const indent = text.slice(lineStart(text, last.at), last.at);
  const separator = /^[ \t]*$/.test(indent) ? `,${eolOf(text)}${indent}` : ", ";
  return splice(text, last.value.end, values.map((value) => `${separator}${value}`).join(""));
}

/** Adds a line below the one that has the position. */
function withLine(text: string, position: number, line: string): string {
  const eol = eolOf(text);
  const next = text.indexOf("\n", position);
  return next < 0 ? `${text}${eol}${line}` : splice(text, next + 1, `${line}${eol}`);
}

const splice = (text: string, at: number, by: string): string => text.slice(0, at) + by + text.slice(at);
const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;
const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
