import { type Range, useWindowVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useMemo, useRef } from "react";
import { useOffset } from "../../../parts/offset.ts";
import { blocksAround, withIndexes } from "../../../parts/virtual-blocks.ts";
import type { Row } from "./rows.ts";

/** Estimated row heights in pixels, until rows are measured. They are exact for lines that do not wrap. */
export const HEIGHTS = {
  file: 44,
  folded: 72,
  images: 240,
  remark: 29,
  hunk: 28,
  rest: 28,
  line: 20,
  pair: 20,
  threads: 180,
  end: 16,
} as const;
const BLOCKS = { size: 32, overscan: 24 };

export type VirtualRows = Virtualizer<Window, Element>;

/**
 * Virtualizes the rows of a diff. The header of the file at the top is always rendered, and so is the row with the focus.
 * @param top height of the sticky element above the rows, in pixels
 */
export function useVirtualRows(rows: readonly Row[], list: RefObject<HTMLElement | null>, top: number) {
  const margin = useOffset(list);
  /** The id of the row with the focus. */
  const focused = useRef<number | null>(null);
  /** The index of the header of the file at the top. */
  const sticky = useRef(0);
  const instance = useRef<VirtualRows>(null);
  const drawn = useRef<number[]>([]);
  const indexes = useMemo(() => new Map(rows.map(({ id }, index) => [id, index])), [rows]);
  const extract = useCallback(
    (range: Range) => {
      // the visible area starts below the sticky element
      const offset = (instance.current?.scrollOffset ?? 0) + top;
      const first = instance.current?.getVirtualItemForOffset(offset)?.index ?? range.startIndex;
      sticky.current = fileHeadAbove(rows, first);
      const kept = focused.current === null ? undefined : indexes.get(focused.current);
      // the same array while nothing changes: what is computed from it is kept
      drawn.current = withIndexes(
        drawn.current,
        blocksAround(range, BLOCKS),
        sticky.current,
        ...(kept === undefined ? [] : [kept]),
      );
      return drawn.current;
    },
    [rows, indexes, top],
  );
  // a new function would make the virtualizer measure all rows again
  const estimateSize = useCallback((index: number) => HEIGHTS[rows[index]?.kind ?? "line"], [rows]);
  const getItemKey = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize,
    getItemKey,
    scrollMargin: margin,
    scrollPaddingStart: top + HEIGHTS.file,
    rangeExtractor: extract,
  });
  instance.current = virtual;
  return { virtual, margin, focused, sticky };
}

function fileHeadAbove(rows: readonly Row[], from: number): number {
  for (let index = Math.min(from, rows.length - 1); index > 0; index--) {
    if (rows[index]?.kind === "file") return index;
  }
  return 0;
}
