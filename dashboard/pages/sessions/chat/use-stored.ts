import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { Session } from "../../../../src/contract/session.ts";
import type { ConversationPage, Turn, TurnPart } from "../../../../src/contract/turn.ts";
import { joinTurns } from "../../../../src/conversation/join-turns.ts";
import { call } from "../../../api/call.ts";
import { useGet } from "../../../api/get.ts";
import { path } from "../../../api/path.ts";
import type { Chat, ChatState } from "./chat.ts";

/** Parts per request. */
const PAGE = 100;
/** The server may store the end of an answer a moment after its sandbox has ended. */
const LATE_MS = 2_000;

/** The stored turns of a session, without those of the live chat. */
export interface Stored {
  turns: readonly Turn[];
  /** Whether they are the whole conversation: there is no sandbox, or the page has not caught up with it. */
  isAlone: boolean;
  isLoading: boolean;
  error: unknown;
  retry: () => void;
  /** Whether there are earlier turns than those shown. */
  hasEarlier: boolean;
  showEarlier: () => void;
}

/** While a session runs, its stored turns are loaded only on request; once they are shown, they stay. */
export function useStored(session: Session, chat: Chat, state: ChatState): Stored {
  const isRunning = session.status === "running";
  const isLive = isRunning && state.extent !== "none";
  const [isOpen, setIsOpen] = useState(!isRunning);
  useEffect(() => {
    if (!isRunning) setIsOpen(true);
  }, [isRunning]);
  const list = useTurns(session, state, isOpen || !isRunning);
  const isMore = useIsMore(session, chat, state, isLive);
  // the items of a sandbox that has ended stay until the stored turns have them, too
  const [seen, setSeen] = useState({ isLive, at: 0 });
  if (seen.isLive !== isLive) setSeen({ isLive, at: Date.now() });
  const isAlone = !isLive && list.data !== undefined && list.dataUpdatedAt >= seen.at;
  const all = useMemo(
    () => (list.data?.pages ?? []).reduce<readonly Turn[]>((later, { turns }) => joinTurns(turns, later), []),
    [list.data],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chat has other turns when its items change
  const turns = useMemo(() => (isAlone ? all : withoutLive(all, chat)), [all, chat, isAlone, state.items]);
  const { error, isFetching, hasNextPage, fetchNextPage } = list;
  // a page may have only turns that the live chat has
  const mustContinue =
    isOpen && isLive && isMore && turns.length === 0 && hasNextPage && !isFetching && error === null;
  useEffect(() => {
    if (mustContinue) void fetchNextPage();
  }, [mustContinue, fetchNextPage]);
  const showEarlier = () => {
    if (isOpen && hasNextPage) void fetchNextPage();
    setIsOpen(true);
  };
  return {
    turns,
    isAlone,
    isLoading: isOpen && (list.isPending || list.isFetchingNextPage),
    error,
    retry: () => void (list.isFetchNextPageError ? fetchNextPage() : list.refetch()),
    hasEarlier: isOpen ? isMore && (hasNextPage || list.isPending) : isLive && isMore,
    showEarlier,
  };
}

function useTurns({ project_id, session_id, status }: Session, { catchUps }: ChatState, enabled: boolean) {
  const queries = useQueryClient();
  const queryKey = useMemo(
    () => [project_id, "conversation", session_id, "turns"] as const,
    [project_id, session_id],
  );
  // a sandbox that ends leaves its turns, and a page that catches up may have missed that
  const version = `${status} ${catchUps}`;
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current === version) return;
    seen.current = version;
    const timer = setTimeout(() => void queries.invalidateQueries({ queryKey }), LATE_MS);
    return () => clearTimeout(timer);
  }, [queries, queryKey, version]);
  return useInfiniteQuery({
    queryKey,
    enabled,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(PAGE), ...(pageParam && { cursor: pageParam }) });
      return call<ConversationPage>("GET", `${conversationPath(project_id, session_id)}?${query}`, {
        signal,
      });
    },
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
}

/** Whether the server has earlier turns than the live chat. */
function useIsMore(
  { project_id, session_id }: Session,
  chat: Chat,
  { catchUps }: ChatState,
  isLive: boolean,
): boolean {
  const newest = useGet<ConversationPage>(
    [project_id, "conversation", session_id, "newest", catchUps],
    `${conversationPath(project_id, session_id)}?limit=1`,
    { enabled: isLive },
  );
  if (!isLive) return true;
  const [turn] = newest.data?.turns ?? [];
  // turns are numbered from 1
  return turn ? turn.number > chat.placeOf(turn.turn_id) : newest.isError;
}

const conversationPath = (projectId: string, sessionId: string): string =>
  path`/projects/${projectId}/sessions/${sessionId}/conversation`;

/** The turns before the live chat. That may begin in the middle of a turn, which then continues there. */
function withoutLive(turns: readonly Turn[], chat: Chat): readonly Turn[] {
  const isLive = ({ part_id }: TurnPart) => chat.hasPart(part_id);
  const at = turns.findIndex(({ turn_id, parts }) => chat.hasTurn(turn_id) || parts.some(isLive));
  const first = turns[at];
  if (!first) return turns;
  const parts = chat.hasTurn(first.turn_id) ? [] : first.parts.slice(0, first.parts.findIndex(isLive));
  const earlier = turns.slice(0, at);
  return parts.length === 0 ? earlier : [...earlier, { ...first, state: "working", parts }];
}
