import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { Row } from "./rows.ts";
import { HEIGHTS, type VirtualRows } from "./virtual-rows.ts";

/**
 * Scrolls to a row of a diff, and focuses the first element in it that matches one of the selectors, which are tried in
 * order. Without selectors the focus does not move.
 */
export type GoToRow = (index: number, ...selectors: readonly string[]) => void;

export function useGoToRow(
  rows: readonly Row[],
  list: RefObject<HTMLElement | null>,
  virtual: VirtualRows,
): GoToRow {
  const wanted = useRef<{ row: number; selectors: readonly string[] } | null>(null);
  /** The row to focus may not be rendered yet. */
  const focusWanted = useCallback(() => {
    if (!wanted.current) return;
    const { row, selectors } = wanted.current;
    const drawn = list.current?.querySelector(`[data-row="${row}"]`);
    const target = selectors.map((each) => drawn?.querySelector<HTMLElement>(each)).find(Boolean);
    if (!target) return;
    wanted.current = null;
    target.focus({ preventScroll: true });
  }, [list]);
  useEffect(focusWanted);
  return useCallback(
    (index, ...selectors) => {
      const row = rows[index];
      if (!row) return;
      if (selectors.length > 0) wanted.current = { row: row.id, selectors };
      if (row.kind === "file") {
        const [start] = virtual.getOffsetForIndex(index, "start") ?? [0];
        virtual.scrollToOffset(start + HEIGHTS.file);
      } else virtual.scrollToIndex(index, { align: "auto" });
      focusWanted();
    },
    [rows, virtual, focusWanted],
  );
}
