import type { View } from "./output.ts";
import { oneLine } from "./text.ts";

export interface Column<Row> {
  title: string;
  /** The full value, for scripts. */
  value(row: Row): string;
  /** The value on a terminal: a relative date, a `#`. */
  shown?(row: Row, view: View): string;
  paint?(row: Row, view: View): (text: string) => string;
  /** Whether the column is shortened on a narrow terminal. */
  flexible?: true;
}

/** The minimum width of a flexible column. */
const FLEXIBLE_MIN = 16;

/** Rows for a terminal (aligned, with a heading, fitted to its width) or for a script (full values, tabs, no heading). */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], view: View): string {
  if (!view.tty) {
    return rows.map((row) => `${columns.map((column) => oneLine(column.value(row))).join("\t")}\n`).join("");
  }
  const cells = rows.map((row) =>
    columns.map((column) => oneLine(column.shown?.(row, view) ?? column.value(row))),
  );
  const widths = columns.map((column, at) =>
    Math.max(column.title.length, ...cells.map((row) => Bun.stringWidth(row[at] ?? ""))),
  );
  const total = widths.reduce((sum, width) => sum + width, 0) + 2 * (widths.length - 1);
  let over = total - view.columns;
  columns.forEach((column, at) => {
    const width = widths[at] ?? 0;
    if (!column.flexible || over <= 0 || width <= FLEXIBLE_MIN) return;
    const narrowed = Math.max(FLEXIBLE_MIN, width - over);
    over -= width - narrowed;
    widths[at] = narrowed;
  });
  const line = (texts: readonly string[], paints: readonly ((text: string) => string)[]) =>
    texts
      .map((text, at) => {
        const fitted = fit(text, widths[at] ?? 0, at === texts.length - 1);
        return paints[at]?.(fitted) ?? fitted;
      })
      .join("  ");
  const head = line(
    columns.map((column) => column.title),
    columns.map(() => view.paint.dim),
  );
  const body = rows.map((row, at) =>
    line(
      cells[at] ?? [],
      columns.map((column) => column.paint?.(row, view) ?? ((text) => text)),
    ),
  );
  return `${[head, ...body].join("\n")}\n`;
}

/** `name: value` lines for a person, `name<tab>value` for a script; null values are omitted. */
export function sheet(
  entries: readonly (readonly [string, string | null | undefined])[],
  view: View,
): string {
  const present = entries.filter((entry): entry is readonly [string, string] => entry[1] != null);
  const width = Math.max(0, ...present.map(([name]) => name.length)) + 1;
  return present
    .map(([name, value]) =>
      view.tty
        ? `${view.paint.dim(`${name}:`.padEnd(width))} ${oneLine(value)}\n`
        : `${name}\t${oneLine(value)}\n`,
    )
    .join("");
}

/** Truncates or pads a text to a width in columns; the last text of a line is not padded. */
export function fit(text: string, width: number, last: boolean): string {
  const actual = Bun.stringWidth(text);
  if (actual <= width) return last ? text : text + " ".repeat(width - actual);
  let cut = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = Bun.stringWidth(segment);
    if (used + next > width - 1) break;
    cut += segment;
    used += next;
  }
  return `${cut}…${last ? "" : " ".repeat(Math.max(0, width - 1 - used))}`;
}

/** `2 hours ago`, for an ISO time; an invalid time is returned unchanged. */
export function ago(time: string, now: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  const text = span(now - at);
  return text === null ? "just now" : `${text} ago`;
}

/** `in 3 hours`, for a time in the future. */
export function ahead(time: string, now: number): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return time;
  const text = span(at - now);
  return text === null ? "now" : `in ${text}`;
}

/** Null for less than a second, or a negative span. */
function span(milliseconds: number): string | null {
  const units = [
    [60, "second"],
    [60, "minute"],
    [24, "hour"],
    [30, "day"],
    [12, "month"],
  ] as const;
  let amount = Math.max(0, Math.round(milliseconds / 1000));
  if (amount === 0) return null;
  for (const [size, name] of units) {
    if (amount < size) return `${amount} ${name}${amount === 1 ? "" : "s"}`;
    amount = Math.floor(amount / size);
  }
  return `${amount} year${amount === 1 ? "" : "s"}`;
}
