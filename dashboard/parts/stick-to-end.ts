import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** Within this distance the reader counts as being at the end. */
const NEAR_PX = 80;

export interface StickToEnd {
  /** Whether the end is in view, and stays in view as the content grows. */
  isAtEnd: boolean;
  scrollToEnd: () => void;
}

/**
 * Keeps the end of growing content in view, unless the reader has scrolled up.
 * @param isOn whether there is content yet
 * @param box the element that scrolls; the page if omitted
 */
export function useStickToEnd(
  content: RefObject<HTMLElement | null>,
  isOn: boolean,
  box?: RefObject<HTMLElement | null>,
): StickToEnd {
  const [isAtEnd, setIsAtEnd] = useState(true);
  const sticks = useRef(true);
  const scroller = useCallback(() => box?.current ?? document.documentElement, [box]);
  const scrollToEnd = useCallback(() => {
    const element = scroller();
    element.scrollTop = element.scrollHeight;
    sticks.current = true;
    setIsAtEnd(true);
  }, [scroller]);
  useEffect(() => {
    const target = box?.current ?? window;
    const element = scroller();
    let last = element.scrollTop;
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      // only the reader scrolls up: growing content does not change scrollTop
      if (isNear) sticks.current = true;
      else if (scrollTop < last) sticks.current = false;
      last = scrollTop;
      setIsAtEnd(sticks.current);
    };
    target.addEventListener("scroll", onScroll, { passive: true });
    return () => target.removeEventListener("scroll", onScroll);
  }, [box, scroller]);
  useEffect(() => {
    const element = content.current;
    if (!element || !isOn) return;
    const watcher = new ResizeObserver(() => {
      if (sticks.current) scrollToEnd();
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [content, isOn, scrollToEnd]);
  return { isAtEnd: isAtEnd || !isOn, scrollToEnd };
}
