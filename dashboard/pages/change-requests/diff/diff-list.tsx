import type { VirtualItem } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
} from "react";
import type { OnExpand } from "./expand.ts";
import type { DiffFile } from "./files.ts";
import { type GoToRow, useGoToRow } from "./go-to-row.ts";

import { type Colours, useColours } from "./highlight.ts";
import { Images } from "./images.tsx";
import { Line, Pair } from "./lines.tsx";
import type { Hunk } from "./patch.ts";
import { Expand, FoldedFile, HunkHead, Remark, Rest } from "./plain-rows.tsx";
import { hunkOf, isIn, type Lines, type Place, placeIn, type Row } from "./rows.ts";
import { indexOf, sideOf, useSelectLines } from "./select-lines.ts";
import { useVirtualRows, type VirtualRows } from "./virtual-rows.ts";

export interface DiffListHandle {
  /** Scrolls to the header of a file and focuses it. */
  goTo(file: DiffFile): void;
  /** Scrolls to the header of a file if the file starts above the window. */
  bringBack(file: DiffFile): void;
  /** Focuses the button of a line. */
  focusLine(place: Place): void;
  /** Focuses the first line of the next change or the next thread, or the previous one. */
  step(by: 1 | -1): void;
  /** The file with the focus, or else the one at the top of the window. */
  here(): DiffFile | undefined;
}

interface Props {
  rows: readonly Row[];
  /** Height of the sticky element above the rows, in pixels. */
  top: number;
  head: (file: DiffFile) => ReactNode;
  threads: (place: Place, file: DiffFile) => ReactNode;
  /** Lines with a comment that is being written. */
  marked: readonly Lines[];
  /** @param instead the comment on other lines that the new one replaces */
  onComment: (lines: Lines, instead: Lines | null) => void;
  onWanted: (file: DiffFile) => void;
  onExpand: OnExpand;
  onCurrent: (file: DiffFile) => void;
  ref: Ref<DiffListHandle>;
}

/** The rows of a diff. Only rows near the window are rendered. The header of the current file is sticky. */
export function DiffList(props: Props) {
  const { rows, top, head, threads, marked, onComment, onWanted, onExpand, onCurrent, ref } = props;
  const list = useRef<HTMLDivElement>(null);
  const { virtual, margin, focused, sticky } = useVirtualRows(rows, list, top);
  const items = virtual.getVirtualItems();
  const goToRow = useGoToRow(rows, list, virtual);
  useImperativeHandle(ref, () => {
    const at = () => {
      const row = rows.findIndex(({ id }) => id === focused.current);
      return row < 0 ? sticky.current : row;
    };
    return diffListHandle(rows, virtual, goToRow, at);
  }, [rows, virtual, goToRow, focused, sticky]);

  const here = rows[sticky.current]?.file;
  useEffect(() => {
    if (here) onCurrent(here);
  }, [here, onCurrent]);

  const colours = useColours(useMemo(() => hunksOf(rows, items), [rows, items]));

  const { selected, extend, clear, handlers } = useSelectLines(rows, onComment);
  const lines = useMemo(() => (selected ? [...marked, selected] : marked), [marked, selected]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const [side, at] = [sideOf(event.target), indexOf(event.target)];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") clear();
    if (side === null || step === undefined) return;
    const next = event.shiftKey ? extend(at, side, step) : nextLine(rows, at, step);
    if (!event.shiftKey) clear();
    if (next === null) return;
    event.preventDefault();
    goToRow(next, `[data-line="${side}"]`, "[data-line]");
  };

  const { current } = sticky;
  const drawn = useMemo(
    () =>
      items.map(({ index, start }) => {
        const row = rows[index];
        if (!row) return null;
        return (
          <DrawnRow
            key={row.id}
            measure={virtual.measureElement}
            at={index === current ? null : start - margin}
            isStop={rows[index - 1]?.kind === "hunk"}
            colours={colours(row)}
            marked={lines}
            {...{ row, index, top, head, threads, onWanted, onExpand }}
          />
        );
      }),
    [items, rows, current, top, margin, colours, lines, virtual, head, threads, onWanted, onExpand],
  );

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the buttons inside
    <div
      ref={list}
      className="relative font-mono text-[13px]/[20px]"
      style={{ height: virtual.getTotalSize() }}
      onKeyDown={onKeyDown}
      {...handlers}
      onFocus={(event) => {
        focused.current = Number(
          event.target.closest<HTMLElement>("[data-row]")?.dataset["row"] ?? Number.NaN,
        );
      }}
      onBlur={() => {
        focused.current = null;
      }}
    >
      {drawn}
    </div>
  );
}

/** @param at the index of the row with the focus, or else of the first in the window */
function diffListHandle(
  rows: readonly Row[],
  virtual: VirtualRows,
  goToRow: GoToRow,
  at: () => number,
): DiffListHandle {
  const headOf = (file: DiffFile) =>
    rows.findIndex((row) => row.kind === "file" && row.file.index === file.index);
  return {
    goTo: (file) => goToRow(headOf(file), "[data-file-head]"),
    bringBack(file) {
      const [start = 0] = virtual.getOffsetForIndex(headOf(file), "start") ?? [];
      if (start < (virtual.scrollOffset ?? 0)) goToRow(headOf(file));
    },
    focusLine: (place) => goToRow(lineAt(rows, place), `[data-line="${place.side}"]`),
    step: (by) => goToRow(nextStop(rows, at(), by), "[data-line]", "[data-thread]"),
    here: () => rows[at()]?.file,
  };
}

/** The index of the next first line of a change or row with threads; -1 if there is none. */
function nextStop(rows: readonly Row[], from: number, by: 1 | -1): number {
  for (let index = from + by; index >= 0 && index < rows.length; index += by) {
    if (rows[index]?.kind === "threads" || rows[index - 1]?.kind === "hunk") return index;
  }
  return -1;
}

function lineAt(rows: readonly Row[], { path, side, line }: Place): number {
  return rows.findIndex((row) => {
    const place = placeIn(row, side);
    return place?.path === path && place.line === line;
  });
}

function hunksOf(rows: readonly Row[], items: readonly VirtualItem[]): { hunk: Hunk; path: string }[] {
  const hunks = new Map<Hunk, string>();
  for (const { index } of items) {
    const row = rows[index];
    const hunk = row && hunkOf(row);
    if (hunk) hunks.set(hunk, row.file.path);
  }
  return Array.from(hunks, ([hunk, path]) => ({ hunk, path }));
}

function nextLine(rows: readonly Row[], from: number, step: number): number | null {
  for (let index = from + step; index >= 0 && index < rows.length; index += step) {
    const kind = rows[index]?.kind;
    if (kind === "line" || kind === "pair") return index;
  }
  return null;
}

function rowLook({ kind }: Row): string {
  const place = "absolute inset-x-0 top-0";
  if (kind === "file") return `${place} font-sans text-base`;
  return kind === "end" ? `${place} h-[16px]` : `${place} border-line border-x`;
}

interface InsideProps extends Pick<Props, "head" | "threads" | "marked" | "onWanted" | "onExpand"> {
  row: Row;
  isStop: boolean;
  colours: Colours;
}

interface DrawnProps extends InsideProps {
  index: number;
  measure: (element: Element | null) => void;
  /** Distance from the top of the list, in pixels; null for the sticky header. */
  at: number | null;
  top: number;
}

const DrawnRow = memo(function DrawnRow({ index, measure, at, top, ...inside }: DrawnProps) {
  const { row } = inside;
  return (
    <div
      ref={measure}
      data-index={index}
      data-row={row.id}
      className={at === null ? "sticky z-20 font-sans text-base" : rowLook(row)}
      style={at === null ? { top } : { transform: `translateY(${at}px)` }}
    >
      <Inside {...inside} />
    </div>
  );
});

function Inside({ row, isStop, colours, marked, head, threads, onWanted, onExpand }: InsideProps) {
  const { file } = row;
  switch (row.kind) {
    case "file":
      return head(file);
    case "folded":
      return <FoldedFile file={file} onWanted={onWanted} />;
    case "images":
      return <Images file={file} />;
    case "remark":
      return <Remark>{row.text}</Remark>;
    case "hunk":
      return (
        <HunkHead hunk={row.hunk} path={file.path}>
          <Expand
            gap={row.gap}
            sides={row.isFirst ? ["above"] : ["below", "above"]}
            onExpand={(direction) => onExpand(file, row.gap, direction)}
          />
        </HunkHead>
      );
    case "rest":
      return (
        <Rest>
          <Expand
            gap={row.gap}
            sides={["below"]}
            onExpand={(direction) => onExpand(file, row.gap, direction)}
          />
        </Rest>
      );
    case "line":
      return (
        <Line
          cell={row.cell}
          isMarked={isIn(row, "old", marked) || isIn(row, "new", marked)}
          {...{ colours, isStop }}
        />
      );
    case "pair":
      return (
        <Pair
          left={row.left}
          right={row.right}
          isLeftMarked={isIn(row, "old", marked)}
          isRightMarked={isIn(row, "new", marked)}
          {...{ colours, isStop }}
        />
      );
    case "threads":
      return (
        <div className="border-line border-y bg-canvas p-2 font-sans text-base">
          {threads(row.place, file)}
        </div>
      );
    case "end":
      return null;
  }
}
