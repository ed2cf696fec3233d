import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Session } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import { call } from "../../api/call.ts";
import { ApiFailure } from "../../api/failure.ts";
import { path } from "../../api/path.ts";
import { REACH } from "../../api/reach.ts";
import { useShown } from "../../api/shown.ts";
import { LogStore } from "./log-store.ts";

/** The server sends something every 15 seconds. A page never gives up: its reader may come back to it any day. */
const PATIENCE = {
  silentSeconds: 40,
  firstDelayMs: 250,
  maxDelayMs: 5_000,
  giveUpMs: Number.POSITIVE_INFINITY,
};

export interface Followed {
  session: Session | undefined;
  error: unknown;
  log: LogStore;
  /** It was deleted while the page was open. */
  isDeleted: boolean;
  /** Whether nothing is heard of it for the moment. */
  isLost: boolean;
  retry: () => void;
}

export const sessionKey = (projectId: string, sessionId: string) => [projectId, "session", sessionId];

/** A session as it is, and its log, as they change: by the session's own stream of events. */
export function useFollowed(projectId: string, sessionId: string): Followed {
  const queries = useQueryClient();
  const [log] = useState(() => new LogStore());
  const [state, setState] = useState<"heard" | "lost" | "deleted">("heard");
  const [tries, setTries] = useState(0);
  const [failure, setFailure] = useState<unknown>(null);
  const isShown = useShown();
  const { data, error, refetch } = useQuery({
    queryKey: sessionKey(projectId, sessionId),
    queryFn: ({ signal }) =>
      call<Session>("GET", path`/projects/${projectId}/sessions/${sessionId}`, { signal }),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try begins anew
  useEffect(() => {
    if (!isShown) return;
    const ended = new AbortController();
    const listen = async () => {
      log.begin();
      const own = path`/projects/${projectId}/sessions/${sessionId}`;
      for await (const heard of follow(REACH, own, ended.signal, PATIENCE)) {
        if (ended.signal.aborted) return;
        setState(heard.type === "deleted" ? "deleted" : heard.type === "lost" ? "lost" : "heard");
        if (heard.type === "session") await show(queries, heard.session);
        if (heard.type === "log") log.add(heard.line);
        if (heard.type === "prompt") stalePrompts(queries, projectId, sessionId);
      }
    };
    listen().catch((error: unknown) => {
      if (!ended.signal.aborted) setFailure(error);
    });
    return () => ended.abort();
  }, [queries, log, projectId, sessionId, isShown, tries]);
  const retry = () => {
    setFailure(null);
    setTries(tries + 1);
    void refetch();
  };
  const isGone = error instanceof ApiFailure && error.code === "not_found" && data !== undefined;
  return {
    session: data,
    error: failure ?? (data === undefined ? error : null),
    log,
    isDeleted: state === "deleted" || isGone,
    isLost: state === "lost",
    retry,
  };
}

/** An answer that is under way was given before this, and would take it back. */
async function show(queries: QueryClient, session: Session): Promise<void> {
  const queryKey = sessionKey(session.project_id, session.session_id);
  await queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, session);
}

export const promptsKey = (projectId: string, sessionId: string) => [
  projectId,
  "session",
  sessionId,
  "prompts",
];

function stalePrompts(queries: QueryClient, projectId: string, sessionId: string): void {
  void queries.invalidateQueries({ queryKey: promptsKey(projectId, sessionId) });
}
