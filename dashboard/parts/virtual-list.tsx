import { type Range, useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import { useFocusedRow } from "./focused-row.ts";
import { useKeepPlace, useKeptPlace } from "./kept-place.ts";
import { useKeys } from "./keys.ts";
import { useOffset } from "./offset.ts";
import { blocksAround, withIndexes } from "./virtual-blocks.ts";

const BLOCKS = { size: 8, overscan: 8 };
/** A list of so many rows is in the document as a whole, so that the browser's search finds all of them. */
const WHOLE = 100;

interface Props<Row> {
  rows: readonly Row[];
  /** Whether the server has more rows. */
  isPart: boolean;
  keyOf: (row: Row) => string;
  /** The height of a row in pixels, until it is measured. */
  height: number;
  /** Called with the rows that the window shows. */
  onView: (view: { first: number; last: number }) => void;
  /** Draws a row. Its link has the properties `ROW_LINK`. */
  children: (row: Row) => ReactNode;
}

/**
 * The list of a page, with the keys `j` and `k`. Of a long list, only the rows near the window are in the document, and the
 * one with the focus; each says its position.
 */
export function VirtualList<Row>({ rows, isPart, keyOf, height, onView, children: draw }: Props<Row>) {
  const list = useRef<HTMLUListElement>(null);
  const margin = useOffset(list);
  const focused = useFocusedRow(list);
  const drawn = useRef<number[]>([]);
  const keys = useMemo(() => rows.map(keyOf), [rows, keyOf]);
  const extract = useCallback(
    (range: Range) => {
      const kept = focused.current === null ? -1 : keys.indexOf(focused.current);
      const shown = range.count <= WHOLE ? [...Array(range.count).keys()] : blocksAround(range, BLOCKS);
      drawn.current = withIndexes(drawn.current, shown, ...(kept < 0 ? [] : [kept]));
      return drawn.current;
    },
    [keys, focused],
  );
  const place = useKeptPlace();
  const virtual = useWindowVirtualizer({
    ...place,
    count: rows.length,
    estimateSize: useCallback(() => height, [height]),
    getItemKey: useCallback((index: number) => keys[index] ?? index, [keys]),
    scrollMargin: margin,
    rangeExtractor: extract,
  });
  useKeepPlace(virtual.takeSnapshot);
  const { startIndex = 0, endIndex = 0 } = virtual.range ?? {};
  useEffect(() => onView({ first: startIndex, last: endIndex }));
  const { wanted, go } = useGoToRow(list, keys, virtual.scrollToIndex);
  const step = (by: 1 | -1) => {
    // a row that is not in the document yet gets the focus soon: keys may come faster than frames
    const from = wanted.current ?? focused.current;
    const at = from === null ? -1 : keys.indexOf(from);
    if (at >= 0) go(at + by);
    else go(by > 0 ? startIndex : endIndex);
  };
  useKeys([
    { key: "j", about: "Next row", run: () => step(1) },
    { key: "k", about: "Previous row", run: () => step(-1) },
  ]);
  const items = virtual.getVirtualItems();
  const { measureElement } = virtual;
  const slots = useMemo(
    () =>
      items.map(({ index, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <Slot
            key={keys[index]}
            rowKey={keys[index] ?? ""}
            measure={measureElement}
            at={start - margin}
            setSize={isPart ? -1 : rows.length}
            {...{ index, row, draw }}
          />
        );
      }),
    [items, rows, keys, margin, isPart, draw, measureElement],
  );
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <ul ref={list} className="relative" style={{ height: virtual.getTotalSize() }}>
        {slots}
      </ul>
    </div>
  );
}

/** Scrolls to a row and focuses its link, which may not be in the document yet. */
function useGoToRow(
  list: { current: HTMLElement | null },
  keys: readonly string[],
  scrollToIndex: (index: number) => void,
): { wanted: { readonly current: string | null }; go: (index: number) => void } {
  const wanted = useRef<string | null>(null);
  const focusWanted = () => {
    if (wanted.current === null) return;
    const row = `[data-key="${CSS.escape(wanted.current)}"]`;
    const link = list.current?.querySelector<HTMLElement>(`${row} [data-row-link]`);
    if (!link) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  };
  useEffect(focusWanted);
  const go = (index: number) => {
    const key = keys[index];
    if (key === undefined) return;
    wanted.current = key;
    scrollToIndex(index);
    focusWanted();
  };
  return { wanted, go };
}

interface SlotProps<Row> {
  row: Row;
  rowKey: string;
  draw: (row: Row) => ReactNode;
  index: number;
  /** Of the whole list; -1 if it is not known. */
  setSize: number;
  /** Distance from the top of the list, in pixels. */
  at: number;
  measure: (element: Element | null) => void;
}

function OneSlot<Row>({ row, rowKey, draw, index, setSize, at, measure }: SlotProps<Row>) {
  return (
    <li
      ref={measure}
      data-index={index}
      data-key={rowKey}
      aria-setsize={setSize}
      aria-posinset={index + 1}
      className={`absolute inset-x-0 top-0 hover:bg-raised ${index > 0 ? "border-line border-t" : ""}`}
      style={{ transform: `translateY(${at}px)` }}
    >
      {draw(row)}
    </li>
  );
}
const Slot = memo(OneSlot) as typeof OneSlot;
