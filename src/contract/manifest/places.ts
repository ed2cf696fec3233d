import { parse } from "smol-toml";

/** Where a thing stands in a TOML file. Offsets are into the text, in UTF-16 units. */
export interface Place {
  /** Where its key is written first; of an item of a list, where the item begins. */
  at: number;
  /** The value as it is written; null of a table, or a list of tables, that headers and dotted keys make. */
  value: { start: number; end: number } | null;
  entries: Map<string, Place>;
  items: Place[];
}

interface Scan {
  readonly text: string;
  at: number;
}
type Key = { name: string; at: number };

/**
 * Tells where everything in a TOML file stands. It only finds its way: what is wrong with a file the parser says, before.
 * @param text what the parser has taken (and so nests no deeper than that allows)
 */
export function placesOf(text: string): Place {
  const scan: Scan = { text, at: text.startsWith(BOM) ? BOM.length : 0 };
  const root = placeAt(scan.at);
  let table = root;
  for (skipVoid(scan); scan.at < text.length; skipVoid(scan)) {
    if (text[scan.at] === "[") table = readHeader(scan, root);
    else readEntry(scan, table);
  }
  return root;
}

export const BOM = "\ufeff";

const placeAt = (at: number): Place => ({ at, value: null, entries: new Map(), items: [] });

/** @returns the table that the header opens */
function readHeader(scan: Scan, root: Place): Place {
  const brackets = scan.text.startsWith("[[", scan.at) ? 2 : 1;
  scan.at += brackets;
  const keys = readKeys(scan, "]");
  scan.at += brackets;
  const table = placeOf(root, keys);
  if (brackets === 1) return table;
  const item = placeAt(keys.at(-1)?.at ?? scan.at);
  table.items.push(item);
  return item;
}

function readEntry(scan: Scan, table: Place): void {
  const keys = readKeys(scan, "=");
  scan.at++;
  readValue(scan, placeOf(table, keys));
}

/** The way down from a table, where a list of tables stands for its last one. */
function placeOf(table: Place, keys: readonly Key[]): Place {
  let place = table;
  for (const { name, at } of keys) {
    const parent = place.items.at(-1) ?? place;
    place = parent.entries.get(name) ?? placeAt(at);
    parent.entries.set(name, place);
  }
  return place;
}

/** The parts of a dotted key, up to what ends it. */
function readKeys(scan: Scan, end: "=" | "]"): Key[] {
  const keys: Key[] = [];
  for (skipBlanks(scan); scan.at < scan.text.length && scan.text[scan.at] !== end; skipBlanks(scan)) {
    if (scan.text[scan.at] === ".") scan.at++;
    else keys.push(readKey(scan));
  }
  return keys;
}

function readKey(scan: Scan): Key {
  const at = scan.at;
  const quote = scan.text[at];
  if (quote === '"' || quote === "'") skipString(scan);
  else scan.at = find(scan, BARE_END);
  const written = scan.text.slice(at, scan.at);
  const name = quote === '"' || quote === "'" ? unquoted(written) : written;
  return { name, at };
}

const BARE_END = /[ \t.=\]]/g;

/** Escapes are the parser's, so that there is one opinion of them. */
function unquoted(written: string): string {
  return written.includes("\\") ? String(parse(`key = ${written}`)["key"]) : written.slice(1, -1);
}

function readValue(scan: Scan, place: Place): void {
  skipBlanks(scan);
  const start = scan.at;
  const first = scan.text[start];
  if (first === '"' || first === "'") skipString(scan);
  else if (first === "[") readList(scan, place);
  else if (first === "{") readTable(scan, place);
  else {
    const end = find(scan, PLAIN_END);
    scan.at = start + scan.text.slice(start, end).trimEnd().length;
  }
  place.value = { start, end: scan.at };
}

/** A date may have a blank within. */
const PLAIN_END = /[,\]}#\r\n]/g;

function readList(scan: Scan, place: Place): void {
  scan.at++;
  for (skipVoid(scan); !ends(scan, "]"); skipVoid(scan)) {
    if (scan.text[scan.at] === ",") scan.at++;
    else {
      const item = placeAt(scan.at);
      readValue(scan, item);
      place.items.push(item);
    }
  }
  scan.at++;
}

function readTable(scan: Scan, place: Place): void {
  scan.at++;
  for (skipVoid(scan); !ends(scan, "}"); skipVoid(scan)) {
    if (scan.text[scan.at] === ",") scan.at++;
    else readEntry(scan, place);
  }
  scan.at++;
}

const ends = ({ text, at }: Scan, bracket: string): boolean => at >= text.length || text[at] === bracket;

function skipString(scan: Scan): void {
  const { text } = scan;
  const quote = text[scan.at] ?? "";
  const fence = text.startsWith(quote.repeat(3), scan.at) ? quote.repeat(3) : quote;
  scan.at += fence.length;
  while (scan.at < text.length && !text.startsWith(fence, scan.at)) {
    scan.at += quote === '"' && text[scan.at] === "\\" ? 2 : 1;
  }
  scan.at += fence.length;
  // one or two quotes may stand right before the three that end a string
  for (let more = 0; fence.length === 3 && more < 2 && text[scan.at] === quote; more++) scan.at++;
}

function skipBlanks(scan: Scan): void {
  while (scan.text[scan.at] === " " || scan.text[scan.at] === "\t") scan.at++;
}

/** Blanks, line ends and comments. */
function skipVoid(scan: Scan): void {
  scan.at = find(scan, SOLID);
  while (scan.text[scan.at] === "#") {
    const end = scan.text.indexOf("\n", scan.at);
    scan.at = end < 0 ? scan.text.length : end;
    scan.at = find(scan, SOLID);
  }
}

const SOLID = /[^ \t\r\n]/g;

/** Where the next match of a global expression begins; the end of the text where there is none. */
function find({ text, at }: Scan, expression: RegExp): number {
  expression.lastIndex = at;
  const match = expression.exec(text);
  return match ? match.index : text.length;
}
