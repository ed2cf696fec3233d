import { useSyncExternalStore } from "react";

/** Tailwind's `lg` breakpoint. */
const WIDE = matchMedia("(width >= 64rem)");

/** Whether the window is wide enough for two columns. */
export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => WIDE.matches);
}

function subscribe(listener: () => void): () => void {
  WIDE.addEventListener("change", listener);
  return () => WIDE.removeEventListener("change", listener);
}
