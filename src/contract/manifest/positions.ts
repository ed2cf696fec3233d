import { parse } from "smol-toml";

/** The position of a key or value in a TOML file. Offsets are in UTF-16 code units. */
export interface Position {
  /** The first occurrence of its key, or the start of an item in a list. */
  at: number;
  /** The written value; null for tables and lists of tables that headers or dotted keys define. */
  value: { start: number; end: number } | null;
  entries: Map<string, Position>;
  items: Position[];
}

interface Scan {
  readonly text: string;
  at: number;
}
type Key = { name: string; at: number };

/**
 * Finds the positions of all keys and values in a TOML file.
 * @param text must have been accepted by the parser, which checks the syntax and limits the nesting
 */
export function positionsOf(text: string): Position {
  const scan: Scan = { text, at: text.startsWith(BOM) ? BOM.length : 0 };
  const root = newPosition(scan.at);
  let table = root;
  for (skipTrivia(scan); scan.at < text.length; skipTrivia(scan)) {
    if (text[scan.at] === "[") table = readHeader(scan, root);
    else readEntry(scan, table);
  }
  return root;
}

export const BOM = "\ufeff";

const newPosition = (at: number): Position => ({ at, value: null, entries: new Map(), items: [] });

/** @returns the table that the header opens */
function readHeader(scan: Scan, root: Position): Position {
  const brackets = scan.text.startsWith("[[", scan.at) ? 2 : 1;
  scan.at += brackets;
  const keys = readKeys(scan, "]");
  scan.at += brackets;
  const table = positionOf(root, keys);
  if (brackets === 1) return table;
  const item = newPosition(keys.at(-1)?.at ?? scan.at);
  table.items.push(item);
  return item;
}

function readEntry(scan: Scan, table: Position): void {
  const keys = readKeys(scan, "=");
  scan.at++;
  readValue(scan, positionOf(table, keys));
}

/** Follows keys down from a table. In a list of tables, the last item is used. */
function positionOf(table: Position, keys: readonly Key[]): Position {
  let position = table;
  for (const { name, at } of keys) {
    const parent = position.items.at(-1) ?? position;
    position = parent.entries.get(name) ?? newPosition(at);
    parent.entries.set(name, position);
  }
  return position;
}

/** Reads the parts of a dotted key. */
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

/** Uses the parser for escapes. */
function unquoted(written: string): string {
  return written.includes("\\") ? String(parse(`key = ${written}`)["key"]) : written.slice(1, -1);
}

function readValue(scan: Scan, position: Position): void {
  skipBlanks(scan);
  const start = scan.at;
  const first = scan.text[start];
  if (first === '"' || first === "'") skipString(scan);
  else if (first === "[") readList(scan, position);
  else if (first === "{") readTable(scan, position);
  else {
    const end = find(scan, PLAIN_END);
    scan.at = start + scan.text.slice(start, end).trimEnd().length;
  }
  position.value = { start, end: scan.at };
}

/** The end of a plain value. A date may contain a space. */
const PLAIN_END = /[,\]}#\r\n]/g;

function readList(scan: Scan, position: Position): void {
  scan.at++;
  for (skipTrivia(scan); !ends(scan, "]"); skipTrivia(scan)) {
    if (scan.text[scan.at] === ",") scan.at++;
    else {
      const item = newPosition(scan.at);
      readValue(scan, item);
      position.items.push(item);
    }
  }
  scan.at++;
}

function readTable(scan: Scan, position: Position): void {
  scan.at++;
  for (skipTrivia(scan); !ends(scan, "}"); skipTrivia(scan)) {
    if (scan.text[scan.at] === ",") scan.at++;
    else readEntry(scan, position);
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
  // a string may end with one or two quotes before the closing three
  for (let more = 0; fence.length === 3 && more < 2 && text[scan.at] === quote; more++) scan.at++;
}

function skipBlanks(scan: Scan): void {
  while (scan.text[scan.at] === " " || scan.text[scan.at] === "\t") scan.at++;
}

/** Skips whitespace and comments. */
function skipTrivia(scan: Scan): void {
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
