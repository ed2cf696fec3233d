import { useEffect, useRef } from "react";
import { Button } from "./button.tsx";

/** Distance from the window at which the next page is loaded, in pixels: before the reader sees the end. */
const AHEAD_PX = 800;

interface Props {
  /** Whether nothing follows the list on its page: the reader who comes near its end then gets the next page. */
  isEnd?: boolean;
  list: {
    /** Whether the last page had rows; without it, no page is loaded by itself. */
    isGrowing?: boolean;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
}

/**
 * A button that loads the next page of a list. At the end of a page that happens by itself, except after an error, and after a
 * page that had no rows, as of a search that goes through many.
 */
export function More({ isEnd = false, list }: Props) {
  const { isGrowing = false, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
  const end = useRef<HTMLDivElement>(null);
  const isWaiting = isEnd && isGrowing && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (!isWaiting || !end.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        void fetchNextPage();
      },
      { rootMargin: `${AHEAD_PX}px` },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isWaiting, fetchNextPage]);
  if (!hasNextPage) return null;
  return (
    <div ref={end} className="mt-4">
      <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
