import type { VirtualItem } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

/** Where the list of a page was when the reader left it: the window's offset, and the heights of the rows that were drawn. */
interface Place {
  initialOffset: number;
  initialMeasurementsCache: VirtualItem[];
}

/** Places that are kept: more than readers go back. */
const KEPT_MAX = 20;
/** By the address of the page, the oldest first. */
const kept = new Map<string, Place>();
/** Whether the page was reached with the browser's buttons. */
let isBack = false;
// before the router, which draws the page. It names its own events after the methods of the history
addEventListener("popstate", () => note(true), { capture: true });
addEventListener("pushState", () => note(false), { capture: true });

function note(back: boolean): void {
  isBack = back;
}

const here = () => location.pathname + location.search;

/** The place of this page's list if the reader comes back to it, as options of the virtualizer. */
export function useKeptPlace(): Partial<Place> {
  const [place] = useState(() => (isBack ? kept.get(here()) : undefined));
  return place ?? {};
}

/** Keeps the place when the reader leaves the page. */
export function useKeepPlace(takeSnapshot: () => VirtualItem[]): void {
  const address = useRef("");
  useEffect(() => {
    address.current = here();
  });
  useLayoutEffect(
    () => () => {
      kept.delete(address.current);
      kept.set(address.current, { initialOffset: scrollY, initialMeasurementsCache: takeSnapshot() });
      const [oldest] = kept.keys();
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    },
    [takeSnapshot],
  );
}
