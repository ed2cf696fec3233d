import { useSyncExternalStore } from "react";

/** A page that is hidden for this long closes its streams. */
const HIDDEN_MS = 20_000;

/**
 * Whether this page is visible. A browser opens at most six connections to a host over HTTP/1.1, and each stream occupies
 * one: pages in the background would leave none for the visible page.
 */
export function useShown(): boolean {
  return useSyncExternalStore(subscribe, () => isShown);
}

let isShown = document.visibilityState !== "hidden";
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.visibilityState === "hidden") timer = setTimeout(() => set(false), HIDDEN_MS);
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
