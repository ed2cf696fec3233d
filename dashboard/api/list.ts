import { useInfiniteQuery } from "@tanstack/react-query";
import { call } from "./call.ts";

/** Rows of one answer: what a screen shows at a time, and more. */
const PAGE = 100;

/** Every list of the API: its rows under its own name, and where it goes on. */
interface Answer<T> {
  [name: string]: T[] | string | undefined;
}

/**
 * A list of the API, page after page.
 * @param path below `/v1`, without `limit` and `cursor`
 * @param name what the list is called in the answer
 */
export function useList<T>(queryKey: readonly unknown[], path: string, name: string) {
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(PAGE), ...(pageParam && { cursor: pageParam }) });
      return call<Answer<T>>("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`, { signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => (typeof next_cursor === "string" ? next_cursor : undefined),
  });
  const rows = list.data?.pages.flatMap(({ [name]: found }) => (Array.isArray(found) ? found : [])) ?? [];
  return { ...list, rows };
}
