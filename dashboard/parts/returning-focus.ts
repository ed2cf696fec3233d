import { type RefObject, useEffect, useReducer, useRef } from "react";

/**
 * For what takes the focus once the button or field that had it is gone, so that who uses the keyboard does not begin
 * again at the top of the page.
 * @returns for the element, and what to call when it is time
 */
export function useReturningFocus<E extends HTMLElement>(): [RefObject<E | null>, () => void] {
  const element = useRef<E>(null);
  const [asked, ask] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (asked > 0) element.current?.focus({ preventScroll: true });
  }, [asked]);
  return [element, ask];
}
