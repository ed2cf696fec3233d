import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { parseJson, textField } from "../../src/contract/json.ts";
import { RECENT_MAX_S } from "../../src/contract/limits.ts";
import { readEvents } from "../../src/contract/sse.ts";
import { open } from "./call.ts";
import { ApiFailure } from "./failure.ts";
import { NOTIFICATIONS } from "./notifications.ts";
import { path } from "./path.ts";
import { projectsChanged } from "./project.ts";
import { useShown } from "./shown.ts";

/** Maximum age in seconds of cached data that a page shows without a refetch. */
const CACHE_MAX_AGE_S = 10;
/** Backoff between two connection attempts. */
const BACKOFF_MS = 500;
const BACKOFF_MAX_MS = 15_000;

/**
 * Keeps the data that a page shows of a project up to date: each event of the project invalidates the queries of its type.
 * Query keys have the form `[<projectId>, <type of event>, <id>…]`.
 */
export function useProjectEvents(projectId: string): void {
  const queries = useQueryClient();
  const isShown = useShown();
  const last = useRef("");
  const begun = useRef(performance.now());
  useEffect(() => {
    if (!isShown) return;
    const ended = new AbortController();
    void follow(queries, projectId, { last, begun: begun.current }, ended.signal);
    return () => ended.abort();
  }, [queries, projectId, isShown]);
}

/**
 * @param last the id of the last event received, also on an earlier stream
 * @param begun when the page started to load data, as `performance.now()`. The first stream replays the events since then:
 *   one may occur between a response and the start of the stream
 */
async function follow(
  queries: QueryClient,
  projectId: string,
  { last, begun }: { last: { current: string }; begun: number },
  signal: AbortSignal,
): Promise<void> {
  let backoff = BACKOFF_MS;
  while (!signal.aborted) {
    try {
      const headers = {
        Accept: "text/event-stream",
        ...(last.current !== "" && { "Last-Event-ID": last.current }),
      };
      const recent = Math.ceil((performance.now() - begun) / 1000) + CACHE_MAX_AGE_S;
      const stream = path`/projects/${projectId}/events`;
      const response = await open(`${stream}?recent=${Math.min(recent, RECENT_MAX_S)}`, headers, signal);
      if (!response.body) return;
      for await (const { id, type, data } of readEvents(chunksOf(response.body))) {
        if (id !== "") last.current = id;
        backoff = BACKOFF_MS;
        if (type === "reset") invalidate(queries, [projectId]);
        else if (type !== "ready") onEvent(queries, projectId, type, parseJson(data));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure && error.status >= 400 && error.status < 500 && error.status !== 429)
        return;
    }
    await new Promise((resolve) => setTimeout(resolve, backoff));
    backoff = Math.min(backoff * 2, BACKOFF_MAX_MS);
  }
}

/** A change request shows its comments, approvals, checks and branches too. */
const SHOWN_IN: Readonly<Record<string, readonly string[]>> = {
  comment: ["change_request", "comment"],
  approval: ["change_request"],
  check: ["change_request"],
  branch: ["change_request", "branch"],
};

function onEvent(queries: QueryClient, projectId: string, type: string, event: unknown): void {
  for (const kind of SHOWN_IN[type] ?? [textField(event, "type") || type]) {
    // its queries may have the slug as their key
    if (kind === "project") void projectsChanged(queries);
    invalidate(queries, [projectId, kind]);
    // the user may be notified of it
    invalidate(queries, NOTIFICATIONS);
  }
}

/**
 * Refetches these queries. A first response in flight may predate the change, and TanStack Query does not refetch a query
 * that has no data yet: such a query is invalidated again when its response has arrived.
 */
function invalidate(queries: QueryClient, queryKey: readonly string[]): void {
  void queries.invalidateQueries({ queryKey });
  for (const query of queries.getQueryCache().findAll({ queryKey, fetchStatus: "fetching" })) {
    if (query.state.data !== undefined) continue;
    const again = () => void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    query.promise?.then(again, again);
  }
}

/** Not every browser supports async iteration of a stream. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
