import { cellsOf, textOf } from "./cells.ts";
import type { DiffFile } from "./files.ts";
import { withoutCr } from "./hidden.ts";
import type { Lines } from "./rows.ts";

/**
 * A fenced code block that suggests the lines as they are after the change, to edit. Null for lines before the change, for
 * lines that the diff does not show, and for text that is not UTF-8.
 */
export function suggestionFor(file: DiffFile, { side, start_line, line: end }: Lines): string | null {
  if (side === "old") return null;
  const start = start_line ?? end;
  const lines = file.hunks
    .flatMap(cellsOf)
    .filter((cell) => cell.new !== null && start <= cell.new && cell.new <= end)
    .map((cell) => withoutCr(textOf(cell)));
  if (lines.length !== end - start + 1 || lines.some((line) => line.includes(REPLACED))) return null;
  const runs = lines.map((line) => /^ {0,3}(`{3,})/.exec(line)?.[1]?.length ?? 0);
  const fence = "`".repeat(Math.max(2, ...runs) + 1);
  return [`${fence}suggestion`, ...lines, fence].join("\n");
}

/** What stands in a decoded text for bytes that are not UTF-8. */
const REPLACED = "\ufffd";
