import { useMemo } from "react";
import type { Thread } from "../threads.ts";
import type { Place, ThreadsAt } from "./rows.ts";

export function placeKey({ path, side, line }: Place): string {
  return `${side} ${line} ${path}`;
}

/** The line of a thread; null if it belongs to the whole change request. */
export function placeOf({ first: { path, side, line } }: Thread): Place | null {
  return path !== null && line !== null ? { path, side: side ?? "new", line } : null;
}

/** The text of the line; null for several. */
function quoteOf({ first }: Thread): string | null {
  return first.original_start_line === null ? first.quote : null;
}

export function useThreadsByPlace(threads: readonly Thread[]): ReadonlyMap<string, Thread[]> {
  return useMemo(() => {
    const found = new Map<string, Thread[]>();
    for (const thread of threads) {
      const place = placeOf(thread);
      if (place) found.set(placeKey(place), [...(found.get(placeKey(place)) ?? []), thread]);
    }
    return found;
  }, [threads]);
}

/** The lines with threads or with a comment that is being written, by path. */
export function threadsByPath(
  threads: ReadonlyMap<string, readonly Thread[]>,
  composing: readonly Place[],
): ReadonlyMap<string, readonly ThreadsAt[]> {
  const lines = new Map<string, ThreadsAt>();
  for (const [key, here] of threads) {
    const place = here[0] ? placeOf(here[0]) : null;
    if (place) lines.set(key, { ...place, quotes: here.map(quoteOf) });
  }
  for (const place of composing) lines.set(placeKey(place), { ...place, quotes: [null] });
  const byPath = new Map<string, ThreadsAt[]>();
  for (const line of lines.values()) byPath.set(line.path, [...(byPath.get(line.path) ?? []), line]);
  return byPath;
}
