import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** Within this distance the reader counts as being at the end. */
const NEAR_PX = 80;
/** Keys that scroll up. */
const UP_KEYS: readonly string[] = ["ArrowUp", "PageUp", "Home"];

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
  const last = useRef({ top: 0, height: 0 });
  const scroller = useCallback(() => box?.current ?? document.documentElement, [box]);
  const stick = useCallback((whether: boolean) => {
    sticks.current = whether;
    setIsAtEnd(whether);
  }, []);
  const scrollToEnd = useCallback(() => {
    const element = scroller();
    element.scrollTop = element.scrollHeight;
    last.current = { top: element.scrollTop, height: element.scrollHeight };
    stick(true);
  }, [scroller, stick]);
  useEffect(() => {
    const element = scroller();
    const onScroll = () => {
      const { scrollTop: top, scrollHeight: height, clientHeight } = element;
      const isNear = height - top - clientHeight < NEAR_PX;
      const { top: before, height: heightBefore } = last.current;
      last.current = { top, height };
      if (isNear && top > before) stick(true);
      // when content is measured or removed, the browser scrolls up without the reader: the height changes with it
      else if (!isNear && top < before && height === heightBefore) stick(false);
    };
    // otherwise the browser moves the page with whatever is below the content
    element.style.overflowAnchor = "none";
    const target = box?.current ?? window;
    target.addEventListener("scroll", onScroll, { passive: true });
    // at once: content that grows before the scroll event must not scroll back to the end
    const ignore = onReaderScrollsUp(element, () => stick(false));
    return () => {
      element.style.overflowAnchor = "";
      target.removeEventListener("scroll", onScroll);
      ignore();
    };
  }, [box, scroller, stick]);
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

/**
 * Calls back when the reader scrolls an element up by wheel, finger or key, before it scrolls.
 * @returns a function that ends it
 */
function onReaderScrollsUp(element: HTMLElement, onUp: () => void): () => void {
  const ended = new AbortController();
  const options = { passive: true, signal: ended.signal };
  let touchedAt = 0;
  const up = ({ target }: Event) => {
    if (element.scrollTop > 0 && !isScrolledBelow(element, target)) onUp();
  };
  const onWheel = (event: WheelEvent) => {
    if (event.deltaY < 0 && !event.ctrlKey) up(event);
  };
  const onTouchStart = ({ touches }: TouchEvent) => {
    touchedAt = touches[0]?.clientY ?? 0;
  };
  const onTouchMove = (event: TouchEvent) => {
    if ((event.touches[0]?.clientY ?? 0) > touchedAt) up(event);
  };
  const onKey = (event: KeyboardEvent) => {
    const isTyping = event.target instanceof Element && event.target.matches("input, textarea, select");
    if (UP_KEYS.includes(event.key) && !isTyping) up(event);
  };
  element.addEventListener("wheel", onWheel, options);
  element.addEventListener("touchstart", onTouchStart, options);
  element.addEventListener("touchmove", onTouchMove, options);
  element.addEventListener("keydown", onKey, options);
  return () => ended.abort();
}

/** Whether an area inside `element`, around the target of an event, can be scrolled up itself. */
function isScrolledBelow(element: HTMLElement, target: EventTarget | null): boolean {
  let inner = target instanceof Element ? target : null;
  while (inner && inner !== element && inner.scrollTop === 0) inner = inner.parentElement;
  return inner !== null && inner !== element;
}
