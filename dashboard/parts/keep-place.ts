import { type RefObject, useCallback, useLayoutEffect, useRef } from "react";

/**
 * Keeps what the reader sees where it is when content is inserted above it. Browsers differ in whether they do that
 * themselves: the content needs `overflow-anchor: none`.
 * @param first changes when content is inserted
 * @returns called with an element of the content before something is inserted above that element
 */
export function useKeepPlace(
  content: RefObject<HTMLElement | null>,
  first: string,
): (element: Element | null) => void {
  const kept = useRef<{ element: Element; first: string; offset: number } | null>(null);
  const offsetOf = useCallback(
    (element: Element) =>
      element.getBoundingClientRect().top - (content.current?.getBoundingClientRect().top ?? 0),
    [content],
  );
  useLayoutEffect(() => {
    if (kept.current === null || kept.current.first === first) return;
    const { element, offset } = kept.current;
    kept.current = null;
    if (element.isConnected) window.scrollBy({ top: offsetOf(element) - offset, behavior: "instant" });
  }, [first, offsetOf]);
  return (element) => {
    kept.current = element && { element, first, offset: offsetOf(element) };
  };
}
