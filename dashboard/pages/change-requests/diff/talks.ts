import { useMemo } from "react";
import type { Thread } from "../review.ts";
import type { Place, Talk } from "./rows.ts";

export function placeKey({ path, side, line }: Place): string {
  return `${side} ${line} ${path}`;
}

/** The line that a thread is about; null: it is about the whole. */
export function placeOf({ first: { path, side, line } }: Thread): Place | null {
  return path !== null && line !== null ? { path, side: side ?? "new", line } : null;
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

/** The lines below which something stands, by path. */
export function talksOf(
  threads: ReadonlyMap<string, readonly Thread[]>,
  composing: readonly Place[],
): ReadonlyMap<string, readonly Talk[]> {
  const talks = new Map<string, Talk>();
  for (const [key, said] of threads) {
    const place = said[0] ? placeOf(said[0]) : null;
    if (place) talks.set(key, { ...place, quotes: said.map(({ first }) => first.quote) });
  }
  for (const place of composing) talks.set(placeKey(place), { ...place, quotes: [null] });
  const byPath = new Map<string, Talk[]>();
  for (const talk of talks.values()) byPath.set(talk.path, [...(byPath.get(talk.path) ?? []), talk]);
  return byPath;
}
