import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { useFocusedRow } from "../../../parts/focused-row.ts";
import { useOffset } from "../../../parts/offset.ts";
import { OneItem } from "./item.tsx";
import type { Item } from "./turn.ts";

/** Heights in pixels, until items are measured; of texts, without their lines. */
const HEIGHTS = {
  prompt: 52,
  file: 40,
  answer: 16,
  thought: 54,
  tool: 46,
  plan: 120,
  asked: 72,
  note: 36,
  sandbox: 52,
} as const satisfies Record<Item["kind"], number>;
/** Of a line of a text, and the characters that it has. */
const LINE = { height: 24, length: 90 };
/** Items rendered above and below the visible ones, to avoid blank areas while scrolling. */
const OVERSCAN = 8;
/** Earlier items are loaded when the one with this index comes near. */
const NEAR = 12;

interface Props {
  items: readonly Item[];
  /** Whether the last one is being written. */
  isGrowing: boolean;
  /** Whether the reader is at the end, as the page is at first, before it has scrolled there. */
  isAtEnd: boolean;
  onNearTop: () => void;
}

/** The items of a conversation; only those near the visible area are in the document, and the one with the focus. */
export function Rows({ items, isGrowing, isAtEnd, onNearTop }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const focused = useFocusedRow(list);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => heightOf(items[index]),
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: OVERSCAN,
    scrollMargin: useOffset(list),
    // what is read stays where it is when earlier items are added
    anchorTo: "end",
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      const kept = focused.current === null ? -1 : items.findIndex(({ key }) => key === focused.current);
      return kept < 0 || shown.includes(kept) ? shown : [...shown, kept].toSorted((a, b) => a - b);
    },
  });
  const rows = virtual.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  const height = virtual.getTotalSize();
  useEffect(() => {
    const isShort = height < window.innerHeight;
    if (isShort || (first < NEAR && !isAtEnd)) onNearTop();
  }, [first, height, isAtEnd, onNearTop]);
  return (
    <div ref={list} className="relative" style={{ height }}>
      {rows.map(({ index, key, start }) => {
        const item = items[index];
        if (!item) return null;
        const isTight = isFolded(item) && isFolded(items[index + 1]);
        return (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            data-key={item.key}
            className={`absolute inset-x-0 top-0 flex flex-col ${isTight ? "pb-1.5" : "pb-4"}`}
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            <OneItem item={item} isGrowing={isGrowing && index === items.length - 1} />
          </div>
        );
      })}
    </div>
  );
}

/** The nearer it is to the real height, the less a page moves while it is measured. */
function heightOf(item: Item | undefined): number {
  if (!item) return 0;
  const text = item.kind === "prompt" || item.kind === "answer" ? item.text.trimEnd() : "";
  const lines = text.split("\n").reduce((sum, line) => sum + Math.ceil(line.length / LINE.length), 0);
  return HEIGHTS[item.kind] + lines * LINE.height;
}

const isFolded = (item: Item | undefined): boolean => item?.kind === "tool" || item?.kind === "thought";
