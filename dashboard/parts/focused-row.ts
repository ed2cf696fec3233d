import { type RefObject, useEffect, useRef } from "react";

/** The `data-key` of the row of a list that has the focus, which therefore has to stay in the document. */
export function useFocusedRow(list: RefObject<HTMLElement | null>): RefObject<string | null> {
  const focused = useRef<string | null>(null);
  useEffect(() => {
    const element = list.current;
    const note = ({ target }: FocusEvent) => {
      const row = target instanceof Element ? target.closest("[data-key]") : null;
      focused.current = row?.getAttribute("data-key") ?? null;
    };
    const forget = () => {
      focused.current = null;
    };
    element?.addEventListener("focusin", note);
    element?.addEventListener("focusout", forget);
    return () => {
      element?.removeEventListener("focusin", note);
      element?.removeEventListener("focusout", forget);
    };
  }, [list]);
  return focused;
}
