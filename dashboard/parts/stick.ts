import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** So near the end, a reader reads the end. */
const NEAR_PX = 80;

export interface Stuck {
  /** Whether the end is in view, and stays so as it grows. */
  isAtEnd: boolean;
  toEnd: () => void;
}

/**
 * Keeps the end of what grows in view, unless its reader has scrolled up.
 * @param isOn whether there is anything yet of which the end matters
 * @param box what scrolls; left out: the whole page
 */
export function useStuck(
  grows: RefObject<HTMLElement | null>,
  isOn: boolean,
  box?: RefObject<HTMLElement | null>,
): Stuck {
  const [isAtEnd, setIsAtEnd] = useState(true);
  const wants = useRef(true);
  const scroller = useCallback(() => box?.current ?? document.documentElement, [box]);
  const toEnd = useCallback(() => {
    const element = scroller();
    element.scrollTop = element.scrollHeight;
    wants.current = true;
    setIsAtEnd(true);
  }, [scroller]);
  useEffect(() => {
    const target = box?.current ?? window;
    const element = scroller();
    let last = element.scrollTop;
    const look = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      // only a person scrolls up; what grows moves nothing
      if (isNear) wants.current = true;
      else if (scrollTop < last) wants.current = false;
      last = scrollTop;
      setIsAtEnd(wants.current);
    };
    target.addEventListener("scroll", look, { passive: true });
    return () => target.removeEventListener("scroll", look);
  }, [box, scroller]);
  useEffect(() => {
    const element = grows.current;
    if (!element || !isOn) return;
    const watcher = new ResizeObserver(() => {
      if (wants.current) toEnd();
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [grows, isOn, toEnd]);
  return { isAtEnd: isAtEnd || !isOn, toEnd };
}
