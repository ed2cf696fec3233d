import { useSyncExternalStore } from "react";

/** Tailwind's `lg`: room for two columns. */
const WIDE = matchMedia("(width >= 64rem)");

/** Whether there is room for two columns. */
export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => WIDE.matches);
}

function subscribe(listener: () => void): () => void {
  WIDE.addEventListener("change", listener);
  return () => WIDE.removeEventListener("change", listener);
}
