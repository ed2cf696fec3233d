import { type MouseEvent, type PointerEvent, useRef, useState } from "react";
import { type Lines, type Place, placeIn, type Row } from "./rows.ts";

/** Lines between the one where the selection began and the one that it has reached. */
interface Selection {
  anchor: Place;
  to: number;
}

/**
 * Begins a comment on the lines that the reader selects: drags over, Shift+clicks after another line, or extends with
 * Shift+arrow keys and confirms with Enter. The lines are of one file and one side.
 * @param onComment `instead` is the comment that the selection began with
 */
export function useSelectLines(
  rows: readonly Row[],
  onComment: (lines: Lines, instead: Lines | null) => void,
) {
  const [selection, setSelection] = useState<Selection | null>(null);
  /** The line that was dragged from or clicked last, and the comment that this began. */
  const last = useRef<{ anchor: Place; lines: Lines } | null>(null);

  const comment = (anchor: Place, to: number, instead: Lines | null) => {
    const lines = linesOf({ anchor, to });
    last.current = { anchor, lines };
    setSelection(null);
    onComment(lines, instead);
  };
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    const side = sideOf(event.target);
    const anchor = side && placeIn(rows[indexOf(event.target)], side);
    setSelection(null);
    if (!anchor || event.button !== 0 || event.pointerType === "touch" || event.shiftKey) return;
    let to = anchor.line;
    const list = event.currentTarget;
    const onOver = ({ target }: Event) => {
      const place = placeIn(rows[indexOf(target)], anchor.side);
      if (place?.path !== anchor.path) return;
      to = place.line;
      setSelection({ anchor, to });
    };
    const ends = new AbortController();
    const { signal } = ends;
    const stop = (isDone: boolean) => {
      ends.abort();
      if (isDone && to !== anchor.line) comment(anchor, to, null);
      else setSelection(null);
    };
    list.addEventListener("pointerover", onOver, { signal });
    window.addEventListener("pointerup", () => stop(true), { signal });
    window.addEventListener("pointercancel", () => stop(false), { signal });
  };
  const onClick = (event: MouseEvent<HTMLElement>) => {
    const row = rows[indexOf(event.target)];
    const side = sideOf(event.target);
    const place = side && placeIn(row, side);
    if (!place) return;
    const before = last.current;
    const shifted = event.shiftKey && before ? placeIn(row, before.anchor.side) : null;
    if (before && shifted?.path === before.anchor.path)
      return comment(before.anchor, shifted.line, before.lines);
    const reached = selection && placeIn(row, selection.anchor.side);
    if (selection && reached?.path === selection.anchor.path && reached.line === selection.to)
      return comment(selection.anchor, selection.to, null);
    comment(place, place.line, null);
  };
  /** Extends the selection from a row to the next one that has its side. @returns the index of that; null at the end of the file */
  const extend = (from: number, side: Place["side"], step: number): number | null => {
    const reached = selection && placeIn(rows[from], selection.anchor.side);
    const isOn = selection !== null && reached?.line === selection.to;
    const anchor = isOn ? selection.anchor : placeIn(rows[from], side);
    if (!anchor) return null;
    for (let index = from + step; rows[index]?.file === rows[from]?.file; index += step) {
      const place = placeIn(rows[index], anchor.side);
      if (!place) continue;
      setSelection({ anchor, to: place.line });
      return index;
    }
    return null;
  };
  return {
    selected: selection && linesOf(selection),
    extend,
    clear: () => setSelection(null),
    handlers: { onPointerDown, onClick },
  };
}

function linesOf({ anchor, to }: Selection): Lines {
  const [start, line] = [Math.min(anchor.line, to), Math.max(anchor.line, to)];
  return { path: anchor.path, side: anchor.side, line, ...(start < line && { start_line: start }) };
}

/** The index of the row that an element is in. */
export function indexOf(target: EventTarget | null): number {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
  return Number(row?.dataset["index"] ?? Number.NaN);
}

/** The side of the line whose button an element is in. */
export function sideOf(target: EventTarget | null): Place["side"] | null {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-line]") : null;
  const side = button?.dataset["line"];
  return side === "old" || side === "new" ? side : null;
}
