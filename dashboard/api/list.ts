import { useInfiniteQuery } from "@tanstack/react-query";
import { call } from "./call.ts";

/** Rows of the first request, which fill a window and come soon on a phone, and of the next ones. */
const FIRST_PAGE = 30;
const PAGE = 100;

/** Each list of the API has its rows under a name of its own, and `next_cursor`. */
interface Answer<T> {
  [name: string]: T[] | string | undefined;
}

/**
 * A list of the API, loaded page by page.
 * @param path below `/v1`, without `limit` and `cursor`
 * @param name the key of the rows in the response
 * @param pollMs after how many milliseconds the list is read again, if it is
 */
export function useList<T>(
  queryKey: readonly unknown[],
  path: string,
  name: string,
  { pollMs }: { pollMs?: (rows: readonly T[]) => number | false } = {},
) {
  const rowsOf = (pages: readonly Answer<T>[] = []) =>
    pages.flatMap(({ [name]: found }) => (Array.isArray(found) ? found : []));
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const limit = String(pageParam === "" ? FIRST_PAGE : PAGE);
      const query = new URLSearchParams({ limit, ...(pageParam && { cursor: pageParam }) });
      return call<Answer<T>>("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`, { signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => (typeof next_cursor === "string" ? next_cursor : undefined),
    refetchInterval: ({ state }) => pollMs?.(rowsOf(state.data?.pages)) ?? false,
  });
  const pages = list.data?.pages;
  return { ...list, rows: rowsOf(pages), isGrowing: rowsOf(pages?.slice(-1)).length > 0 };
}
