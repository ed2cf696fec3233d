import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** Within this distance the reader counts as being at the end. */
const NEAR_PX = 80;
/** How long after an input of the reader a scroll counts as theirs: the page may be busy, or scroll smoothly. */
const INPUT_MS = 1_000;
const INPUTS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

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
    let last = { top: element.scrollTop, height: element.scrollHeight };
    let inputAt = Number.NEGATIVE_INFINITY;
    const onInput = () => {
      inputAt = performance.now();
    };
    const onScroll = () => {
      const { scrollTop: top, scrollHeight: height, clientHeight } = element;
      // rows that are measured move the content, too, and may grow again before this event arrives
      const isByReader = height === last.height || performance.now() - inputAt < INPUT_MS;
      if (height - top - clientHeight < NEAR_PX) sticks.current = true;
      else if (top < last.top && isByReader) sticks.current = false;
      last = { top, height };
      setIsAtEnd(sticks.current);
    };
    target.addEventListener("scroll", onScroll, { passive: true });
    for (const name of INPUTS) target.addEventListener(name, onInput, { passive: true });
    return () => {
      target.removeEventListener("scroll", onScroll);
      for (const name of INPUTS) target.removeEventListener(name, onInput);
    };
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
