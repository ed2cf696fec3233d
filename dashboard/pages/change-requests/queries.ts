import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ChangeRequest, MergePreview } from "../../../src/contract/change-request.ts";
import type { ChangeRequestHead } from "../../../src/contract/change-request-head.ts";
import type { ChangeRequestStack } from "../../../src/contract/change-request-stack.ts";
import type { ChangeRequestTurns } from "../../../src/contract/change-request-turns.ts";
import type { Comment } from "../../../src/contract/comment.ts";
import type { ChangeRequestManifest } from "../../../src/contract/manifest/wire.ts";
import type { Commit } from "../../../src/contract/repository.ts";
import type { TimelineEvent } from "../../../src/contract/timeline.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { readAll } from "../../api/read-all.ts";

/** Maximum number of requests for comments, and for all events that svc keeps. */
const COMMENT_PAGES = 10;
const EVENT_PAGES = 50;

/** Identifies a change request in the API. */
export interface Where {
  projectId: string;
  /** Its id or number. */
  cr: string;
}

const under = ({ projectId, cr }: Where) => path`/projects/${projectId}/change-requests/${cr}`;
const keyOf = ({ projectId, cr }: Where) => [projectId, "change_request", cr];

/** @param q a search */
export function useChangeRequests(projectId: string, q: string) {
  const query = new URLSearchParams({ q });
  return useList<ChangeRequest>(
    [projectId, "change_request", "list", q],
    `${path`/projects/${projectId}/change-requests`}?${query}`,
    "change_requests",
    { idOf: idOfChangeRequest },
  );
}

export const idOfChangeRequest = ({ cr_id }: ChangeRequest): string => cr_id;

export function useChangeRequest(where: Where) {
  return useQuery({
    queryKey: keyOf(where),
    queryFn: async ({ signal }) => {
      const answer = await call<{ change_request: ChangeRequest }>("GET", under(where), { signal });
      return answer.change_request;
    },
  });
}

/** A preview of the merge at the current state of the branches. */
export function usePreview(where: Where, enabled: boolean) {
  return useGet<MergePreview>([...keyOf(where), "preview"], `${under(where)}/merge-preview`, { enabled });
}

/** The problems that a merge would cause in the project's manifest. */
export function useManifestCheck(where: Where) {
  return useGet<ChangeRequestManifest>([...keyOf(where), "manifest"], `${under(where)}/manifest`);
}

/** The commits of the head branch that the base branch does not have. */
export function useCommits(where: Where) {
  return useList<Commit>([...keyOf(where), "commits"], `${under(where)}/commits`, "commits");
}

/** The open change requests below and above. */
export function useStack(where: Where) {
  return useGet<ChangeRequestStack>([...keyOf(where), "stack"], `${under(where)}/stack`);
}

/** The newest commits that the head has had. */
export function useHeads(where: Where) {
  return useGet<{ heads: ChangeRequestHead[] }>([...keyOf(where), "heads"], `${under(where)}/heads`);
}

/** Turns per request. */
const TURNS_PAGE = 200;

/** The turns of the session that a change request came from, the newest first. */
export function useTurns(where: Where, enabled = true) {
  const list = useInfiniteQuery({
    queryKey: [...keyOf(where), "turns"],
    enabled,
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        limit: String(TURNS_PAGE),
        ...(pageParam && { cursor: pageParam }),
      });
      return call<ChangeRequestTurns>("GET", `${under(where)}/turns?${query}`, { signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const pages = list.data?.pages;
  const rows = useMemo(() => (pages ?? []).flatMap(({ turns }) => turns), [pages]);
  return { ...list, rows, plan: pages?.[0]?.plan ?? null };
}

/** Comments, the oldest first. */
export function useComments(where: Where) {
  return useQuery({
    queryKey: [...keyOf(where), "comments"],
    queryFn: ({ signal }) =>
      readAll<Comment>(`${under(where)}/comments`, "comments", { pages: COMMENT_PAGES, signal }),
  });
}

/** What has happened, the oldest first. */
export function useTimeline(where: Where) {
  return useQuery({
    queryKey: [...keyOf(where), "timeline"],
    queryFn: ({ signal }) =>
      readAll<TimelineEvent>(`${under(where)}/timeline`, "events", { pages: EVENT_PAGES, signal }),
  });
}

/** A change of a change request: a request of the API. */
export interface Act {
  method?: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path below the change request, such as `/merge`; empty for the change request itself. */
  at?: string;
  body?: unknown;
}

/** Changes a change request, and refetches it whether that succeeds or fails. */
export function useAct<Answer = unknown>(where: Where) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ method = "POST", at = "", body }: Act) =>
      call<Answer>(method, `${under(where)}${at}`, body === undefined ? {} : { body }),
    onSettled: () => queries.invalidateQueries({ queryKey: [where.projectId, "change_request"] }),
  });
}
