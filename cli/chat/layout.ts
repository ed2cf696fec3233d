import type { Draft } from "./editor.ts";

/** The rows of a draft on a terminal, and the position of the cursor, in cells. */
export interface Layout {
  rows: string[];
  row: number;
  column: number;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Wraps a draft into rows of at most `columns` cells after its mark, and returns up to `rowsMax` rows around the cursor.
 * The last column stays free, so that the terminal does not wrap a row.
 */
export function layOutDraft(draft: Draft, mark: string, columns: number, rowsMax: number): Layout {
  const indent = " ".repeat(Bun.stringWidth(mark));
  const rowWidth = Math.max(4, columns - 1);
  const rows: string[] = [];
  let row = mark;
  let width = Bun.stringWidth(mark);
  let cursor: { row: number; column: number } | null = null;
  const next = () => {
    rows.push(row);
    row = indent;
    width = indent.length;
  };
  for (const [index, cell] of draft.cells.entries()) {
    if (cell.text === "\n") {
      if (index === draft.at) cursor = { row: rows.length, column: width };
      next();
      continue;
    }
    for (const [part, piece] of pieces(cell.shown).entries()) {
      if (width + piece.width > rowWidth) next();
      if (index === draft.at && part === 0) cursor = { row: rows.length, column: width };
      row += piece.text;
      width += piece.width;
    }
    // a cell that is shown as nothing still has a position
    if (index === draft.at && cell.shown === "") cursor ??= { row: rows.length, column: width };
  }
  const end = { row: rows.length, column: width };
  rows.push(row);
  const { row: at, column } = cursor ?? end;
  const first = Math.max(0, Math.min(at - Math.floor(rowsMax / 2), rows.length - rowsMax));
  return { rows: rows.slice(first, first + rowsMax), row: at - first, column };
}

function pieces(text: string): { text: string; width: number }[] {
  return Array.from(graphemes.segment(text), ({ segment }) => ({
    text: segment,
    width: Bun.stringWidth(segment),
  }));
}

/** The end of a line that the terminal wraps: the width of its last row, and the last character. */
export function endOf(line: string, columns: number): { width: number; last: string } {
  let width = 0;
  let last = "";
  for (const { segment } of graphemes.segment(line)) {
    const more = Bun.stringWidth(segment);
    width = width + more > columns ? more : width + more;
    last = segment;
  }
  return { width, last };
}
