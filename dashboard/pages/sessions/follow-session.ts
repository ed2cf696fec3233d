import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { ListeningPort } from "../../../src/contract/ports.ts";
import type { Session } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import { ApiFailure } from "../../api/failure.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { REACH } from "../../api/reach.ts";
import { useShown } from "../../api/shown.ts";
import { LogStore } from "./log-store.ts";

/** The server sends a keep-alive every 15 seconds. A page retries without a limit. */
const PATIENCE = {
  silentSeconds: 40,
  firstDelayMs: 250,
  maxDelayMs: 5_000,
  giveUpMs: Number.POSITIVE_INFINITY,
};

export interface FollowedSession {
  session: Session | undefined;
  error: unknown;
  log: LogStore;
  /** Where programs of the sandbox listen. */
  ports: readonly ListeningPort[];
  /** Whether the session was deleted while the page was open. */
  isDeleted: boolean;
  /** Whether the event stream is disconnected. */
  isLost: boolean;
  retry: () => void;
}

export const sessionKey = (projectId: string, sessionId: string) => [projectId, "session", sessionId];
export const promptsKey = (projectId: string, sessionId: string) => [
  ...sessionKey(projectId, sessionId),
  "prompts",
];

/** A session and its log, kept up to date by the session's event stream. */
export function useFollowSession(projectId: string, sessionId: string): FollowedSession {
  const queries = useQueryClient();
  const [log] = useState(() => new LogStore());
  const [state, setState] = useState<"connected" | "lost" | "deleted">("connected");
  const [tries, setTries] = useState(0);
  const [ports, setPorts] = useState<readonly ListeningPort[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  const isShown = useShown();
  const own = path`/projects/${projectId}/sessions/${sessionId}`;
  const { data, error, refetch } = useGet<Session>(sessionKey(projectId, sessionId), own);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt opens a new stream
  useEffect(() => {
    if (!isShown) return;
    const ended = new AbortController();
    const subscribe = async () => {
      log.clear();
      setPorts([]);
      for await (const event of follow(REACH, own, ended.signal, PATIENCE)) {
        if (ended.signal.aborted) return;
        setState(event.type === "deleted" ? "deleted" : event.type === "lost" ? "lost" : "connected");
        if (event.type === "session") await show(queries, event.session);
        if (event.type === "log") log.add(event.line);
        if (event.type === "ports") setPorts(event.ports);
        if (event.type === "prompt") {
          void queries.invalidateQueries({ queryKey: promptsKey(projectId, sessionId) });
        }
      }
    };
    subscribe().catch((error: unknown) => {
      if (!ended.signal.aborted) setFailure(error);
    });
    return () => ended.abort();
  }, [queries, log, projectId, sessionId, own, isShown, tries]);
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
    ports,
    isDeleted: state === "deleted" || isGone,
    isLost: state === "lost",
    retry,
  };
}

/** Cancels a request in flight, whose response would be older than the event. */
async function show(queries: QueryClient, session: Session): Promise<void> {
  const queryKey = sessionKey(session.project_id, session.session_id);
  await queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, session);
}
