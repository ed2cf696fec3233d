import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { parseJson, textField } from "../../src/contract/json.ts";
import { RECENT_MAX_S } from "../../src/contract/limits.ts";
import { readEvents } from "../../src/contract/sse.ts";
import { open } from "./call.ts";
import { ApiFailure } from "./failure.ts";
import { path } from "./path.ts";
import { projectsChanged } from "./project.ts";
import { useShown } from "./shown.ts";

/** Seconds for which what a page read earlier may be shown without being asked for again. */
const SHOWN_BEFORE_S = 10;
/** Between two tries to listen again: doubled each time. */
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 15_000;

/**
 * Keeps what a page shows of a project as it is: each event of the project makes stale what it tells of. A query's key
 * says what it is about: `[<projectId>, <type of event>, <id>…]`.
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
 * @param last the id of the event that was heard last, also by an earlier stream
 * @param begun when the page began to read, as `performance.now()`: the first stream begins with the events since then,
 *   as one may come between an answer and the stream
 */
async function follow(
  queries: QueryClient,
  projectId: string,
  { last, begun }: { last: { current: string }; begun: number },
  signal: AbortSignal,
): Promise<void> {
  let pause = PAUSE_MS;
  while (!signal.aborted) {
    try {
      const headers = {
        Accept: "text/event-stream",
        ...(last.current !== "" && { "Last-Event-ID": last.current }),
      };
      const recent = Math.ceil((performance.now() - begun) / 1000) + SHOWN_BEFORE_S;
      const stream = path`/projects/${projectId}/events`;
      const response = await open(`${stream}?recent=${Math.min(recent, RECENT_MAX_S)}`, headers, signal);
      if (!response.body) return;
      for await (const { id, type, data } of readEvents(chunksOf(response.body))) {
        if (id !== "") last.current = id;
        pause = PAUSE_MS;
        if (type === "reset") makeStale(queries, [projectId]);
        else if (type !== "ready") heard(queries, projectId, type, parseJson(data));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiFailure && error.status >= 400 && error.status < 500 && error.status !== 429)
        return;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, PAUSE_MAX_MS);
  }
}

/** Comments, approvals and branches are part of what a change request shows. */
const SHOWN_IN: Readonly<Record<string, readonly string[]>> = {
  comment: ["change_request", "comment"],
  approval: ["change_request"],
  branch: ["change_request", "branch"],
};

function heard(queries: QueryClient, projectId: string, type: string, event: unknown): void {
  for (const kind of SHOWN_IN[type] ?? [textField(event, "type") || type]) {
    // an address may name it by its slug
    if (kind === "project") void projectsChanged(queries);
    makeStale(queries, [projectId, kind]);
  }
}

/**
 * Asks again for what these queries have answered. A first answer that is under way may have been read before the change,
 * and TanStack Query does not ask twice for one that has no data yet: that is asked for again when it is there.
 */
function makeStale(queries: QueryClient, queryKey: readonly string[]): void {
  void queries.invalidateQueries({ queryKey });
  for (const query of queries.getQueryCache().findAll({ queryKey, fetchStatus: "fetching" })) {
    if (query.state.data !== undefined) continue;
    const again = () => void queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    query.promise?.then(again, again);
  }
}

/** Not every browser iterates over a stream by itself. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
