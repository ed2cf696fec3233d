import { type ReactNode, useDeferredValue } from "react";

/**
 * Draws its children after the rest of the page, in slices between which the page answers: for parts that are not seen first.
 */
export function Later({ children }: { children: ReactNode }) {
  return useDeferredValue(children, null);
}
