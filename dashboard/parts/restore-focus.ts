import { type RefObject, useEffect, useReducer, useRef } from "react";

/**
 * Moves the focus to an element when the focused button or field is removed, so that keyboard users keep their position on
 * the page.
 * @returns the ref of the element, and a function that requests the focus
 */
export function useRestoreFocus<E extends HTMLElement>(): [RefObject<E | null>, () => void] {
  const element = useRef<E>(null);
  const [requests, requestFocus] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (requests > 0) element.current?.focus({ preventScroll: true });
  }, [requests]);
  return [element, requestFocus];
}
