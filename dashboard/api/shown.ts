import { useSyncExternalStore } from "react";

/** A page that is looked away from for so long lets go of its streams. */
const AWAY_MS = 20_000;

/**
 * Whether somebody can see this page. A browser holds six connections to one host over HTTP/1.1, and streams keep theirs:
 * pages in the background would leave none for the one that is read.
 */
export function useShown(): boolean {
  return useSyncExternalStore(subscribe, () => isShown);
}

let isShown = document.visibilityState !== "hidden";
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.visibilityState === "hidden") timer = setTimeout(() => set(false), AWAY_MS);
  else set(true);
});

function set(shown: boolean): void {
  isShown = shown;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
