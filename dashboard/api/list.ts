import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { call } from "./call.ts";
import { inPlace, isInView, type View } from "./list-pages.ts";

/** Rows of the first request, which fill a window and come soon on a phone, and of the next ones. */
const FIRST_PAGE = 30;
const PAGE = 100;
/** Rows that a page is refetched with beyond those it had: so many may have been added to it. */
const SPARE = 20;
/** The API's limit of a request. */
const PAGE_MAX = 200;

/** Each list of the API has its rows under a name of its own, and `next_cursor`. */
interface Answer<T> {
  [name: string]: T[] | string | undefined;
}

type Known<T> = InfiniteData<Answer<T>, string>;

interface Options<T> {
  /** After how many milliseconds the list is read again, if it is. */
  pollMs?: (rows: readonly T[]) => number | false;
  /** For a long list: what identifies a row. Then a refetch reads its first page and those in view, not all that are loaded. */
  idOf?: (row: T) => string;
}

/**
 * A list of the API, loaded page by page.
 * @param path below `/v1`, without `limit` and `cursor`
 * @param name the key of the rows in the response
 */
export function useList<T>(
  queryKey: readonly unknown[],
  path: string,
  name: string,
  { pollMs, idOf }: Options<T> = {},
) {
  const rowsIn = (page: Answer<T> | undefined) => {
    const found = page?.[name];
    return Array.isArray(found) ? found : [];
  };
  const rowsOf = (pages: readonly Answer<T>[] = []) => {
    const rows = pages.flatMap(rowsIn);
    // a row may have moved to a page that was refetched from one that was not
    return idOf ? [...new Map(rows.toReversed().map((row) => [idOf(row), row])).values()].toReversed() : rows;
  };
  const read = (cursor: string, limit: number, signal?: AbortSignal) => {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) });
    return call<Answer<T>>("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`, signal && { signal });
  };
  const readAgain = async (known: Known<T>, at: number, signal?: AbortSignal): Promise<Answer<T>> => {
    const [cursor = "", old, next] = [known.pageParams[at], known.pages[at], known.pages[at + 1]];
    if (!idOf || !old || !next) return read(cursor, cursor === "" ? FIRST_PAGE : PAGE, signal);
    const fresh = await read(cursor, Math.min(PAGE_MAX, rowsIn(old).length + SPARE), signal);
    const kept = inPlace(rowsIn(fresh), rowsIn(next), idOf);
    return kept ? { ...fresh, [name]: kept, next_cursor: old["next_cursor"] } : fresh;
  };
  const queries = useQueryClient();
  const key = JSON.stringify(queryKey);
  // biome-ignore lint/correctness/useExhaustiveDependencies: of this list
  const seen = useMemo(() => ({ view: { first: 0, last: 0 }, stale: new Set<number>() }), [key]);
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const known = queries.getQueryData<Known<T>>(queryKey);
      const at = known?.pageParams.indexOf(pageParam) ?? -1;
      const old = known?.pages[at];
      if (!known || !old) return read(pageParam, pageParam === "" ? FIRST_PAGE : PAGE, signal);
      const isSeen = !idOf || at === 0 || isInView(known.pages.map(rowsIn), at, seen.view);
      if (isSeen) seen.stale.delete(at);
      else seen.stale.add(at);
      return isSeen ? readAgain(known, at, signal) : old;
    },
    initialPageParam: "",
    getNextPageParam: cursorOf,
    refetchInterval: ({ state }) => pollMs?.(rowsOf(state.data?.pages)) ?? false,
  });
  /** Reads what a refetch has left out of the pages that the window now shows. If that fails, the next refetch does it. */
  const onView = (view: View) => {
    seen.view = view;
    const known = queries.getQueryData<Known<T>>(queryKey);
    for (const at of known ? seen.stale : []) {
      if (!known || !isInView(known.pages.map(rowsIn), at, view)) continue;
      seen.stale.delete(at);
      readAgain(known, at).then(
        (fresh) => {
          const isInPlace = at === known.pages.length - 1 || cursorOf(fresh) === cursorOf(known.pages[at]);
          if (isInPlace) queries.setQueryData<Known<T>>(queryKey, (now) => now && withPage(now, at, fresh));
          else void list.refetch();
        },
        () => {},
      );
    }
  };
  const pages = list.data?.pages;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows depend on the pages alone
  const rows = useMemo(() => rowsOf(pages), [pages]);
  return { ...list, rows, isGrowing: rowsIn(pages?.at(-1)).length > 0, onView };
}

function cursorOf(page: { next_cursor?: unknown } | undefined): string | undefined {
  return typeof page?.next_cursor === "string" ? page.next_cursor : undefined;
}

function withPage<T>(known: Known<T>, at: number, fresh: Answer<T>): Known<T> {
  return { ...known, pages: known.pages.map((page, index) => (index === at ? fresh : page)) };
}
