import { count, lines } from "../text.ts";

/** One grapheme, or a paste that is shown abbreviated. */
export interface Cell {
  text: string;
  shown: string;
}

/** The text being edited, and the cell that the cursor is on. */
export interface Draft {
  readonly cells: readonly Cell[];
  readonly at: number;
}

export const EMPTY: Draft = { cells: [], at: 0 };

/** Characters of one message: more than anyone types, and less than a model accepts. */
const DRAFT_MAX = 500_000;
/** A larger paste is shown as its size. */
const PASTE_SHOWN_MAX = 400;
const PASTE_LINES_MAX = 4;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** An edit of a draft. */
export type Change =
  | { do: "insert"; text: string }
  | { do: "paste"; text: string }
  | { do: "move"; to: Motion }
  | { do: "erase"; to: Motion };

/** A cursor motion. */
export type Motion =
  | "left"
  | "right"
  | "word left"
  | "word right"
  | "line start"
  | "line end"
  | "up"
  | "down";

/** Applies a change. An impossible one, or one that makes the draft too long, changes nothing. */
export function change(draft: Draft, how: Change): Draft {
  if (how.do === "insert" || how.do === "paste") {
    return insert(draft, how.do === "insert" ? typed(how.text) : pasted(how.text));
  }
  const at = positionOf(draft, how.to);
  if (how.do === "move") return { cells: draft.cells, at };
  const [from, to] = at < draft.at ? [at, draft.at] : [draft.at, at];
  return { cells: draft.cells.toSpliced(from, to - from), at: from };
}

export const textOf = ({ cells }: Draft): string => cells.map(({ text }) => text).join("");

/** The draft as it is shown, with abbreviated pastes. */
export const shownOf = ({ cells }: Draft): string => cells.map(({ shown }) => shown).join("");

/** A draft of existing text, with the cursor at its end. */
export const draftOf = (text: string): Draft => insert(EMPTY, pasted(text));

function insert({ cells, at }: Draft, more: readonly Cell[]): Draft {
  const size = cells.reduce((sum, { text }) => sum + text.length, 0);
  const extra = more.reduce((sum, { text }) => sum + text.length, 0);
  if (size + extra > DRAFT_MAX) return { cells, at };
  const [before, first] = [cells[at - 1], more[0]];
  // an accent, or the next part of a composed emoji, belongs to the character before it
  if (before && first && !isBlock(before) && isOne(before.text + first.text)) {
    const joined = typed(before.text + first.text);
    return { cells: cells.toSpliced(at - 1, 1, ...joined, ...more.slice(1)), at: at + more.length - 1 };
  }
  return { cells: cells.toSpliced(at, 0, ...more), at: at + more.length };
}

function typed(text: string): Cell[] {
  return Array.from(graphemes.segment(text), ({ segment }) => ({
    text: segment,
    shown: segment === "\t" ? "    " : lines(segment),
  }));
}

/** Normalizes line endings. */
function pasted(raw: string): Cell[] {
  const text = raw.replace(/\r\n?/g, "\n");
  const rows = text.split("\n").length;
  if (text.length <= PASTE_SHOWN_MAX && rows <= PASTE_LINES_MAX) return typed(text);
  const size = `${text.length.toLocaleString("en")} characters`;
  return [{ text, shown: `[pasted ${size}${rows > 1 ? `, ${count(rows, "line")}` : ""}]` }];
}

const isBlock = ({ text, shown }: Cell): boolean => text === "\n" || shown.startsWith("[pasted ");

const isOne = (text: string): boolean => Array.from(graphemes.segment(text)).length === 1;

function positionOf(draft: Draft, to: Motion): number {
  const { cells, at } = draft;
  switch (to) {
    case "left":
      return Math.max(0, at - 1);
    case "right":
      return Math.min(cells.length, at + 1);
    case "word left":
      return wordStart(cells, at);
    case "word right":
      return wordEnd(cells, at);
    case "line start":
      return lineStart(cells, at);
    case "line end":
      return lineEnd(cells, at);
    case "up": {
      const start = lineStart(cells, at);
      if (start === 0) return at;
      const above = lineStart(cells, start - 1);
      return Math.min(above + (at - start), start - 1);
    }
    case "down": {
      const end = lineEnd(cells, at);
      if (end === cells.length) return at;
      return Math.min(end + 1 + (at - lineStart(cells, at)), lineEnd(cells, end + 1));
    }
  }
}

const isWord = (cell: Cell | undefined): boolean =>
  cell !== undefined && /[\p{L}\p{N}\p{M}_]/u.test(cell.text);

function wordStart(cells: readonly Cell[], from: number): number {
  let at = from;
  while (at > 0 && !isWord(cells[at - 1])) at--;
  while (at > 0 && isWord(cells[at - 1])) at--;
  return at;
}

function wordEnd(cells: readonly Cell[], from: number): number {
  let at = from;
  while (at < cells.length && !isWord(cells[at])) at++;
  while (at < cells.length && isWord(cells[at])) at++;
  return at;
}

function lineStart(cells: readonly Cell[], from: number): number {
  let at = from;
  while (at > 0 && cells[at - 1]?.text !== "\n") at--;
  return at;
}

function lineEnd(cells: readonly Cell[], from: number): number {
  let at = from;
  while (at < cells.length && cells[at]?.text !== "\n") at++;
  return at;
}
