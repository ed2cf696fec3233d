import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  autoMergeBody,
  changeRequest,
  changeRequestDiff,
  crStatusFilter,
  editChangeRequestBody,
  mergeChangeRequestBody,
  mergedChangeRequest,
  mergePreview,
  openChangeRequestBody,
} from "../../contract/change-request.ts";
import { changeRequestBrief } from "../../contract/change-request-brief.ts";
import { changeRequestHead } from "../../contract/change-request-head.ts";
import { revertChangeRequestBody } from "../../contract/change-request-revert.ts";
import { changeRequestStack } from "../../contract/change-request-stack.ts";
import { changeRequestTurns } from "../../contract/change-request-turns.ts";
import { updateBranchBody, updatedBranch } from "../../contract/change-request-update.ts";
import { codeOwners } from "../../contract/code-owners.ts";
import { sendToSessionBody, sentToSession } from "../../contract/comment.ts";
import { REF_MAX_BYTES, SEARCH_MAX } from "../../contract/limits.ts";
import { changeRequestManifest } from "../../contract/manifest/wire.ts";
import { mergeQueue } from "../../contract/merge-queue.ts";
import { commit } from "../../contract/repository.ts";
import { timelineEvent } from "../../contract/timeline.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, answers, listOf } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { forgetAutoMerge } from "./auto-merge/row.ts";
import { enableAutoMerge } from "./auto-merge/set.ts";
import { baseQuery } from "./base-query.ts";
import { briefOf } from "./brief.ts";
import { readCodeOwners } from "./code-owners/read.ts";
import { listCrCommits } from "./commits.ts";
import { diffChangeRequest, streamDiff } from "./diff.ts";
import { editChangeRequest } from "./edit.ts";
import { listStack } from "./list-stack.ts";
import { checkManifest } from "./manifest.ts";
import { mergeChangeRequest } from "./merge.ts";
import { openChangeRequest } from "./open.ts";
import { previewMerge } from "./preview.ts";
import { listQueue } from "./queue/list.ts";
import { forgetEntry } from "./queue/row.ts";
import { getChangeRequest, listChangeRequests } from "./read.ts";
import { resolveConflicts } from "./resolve-conflicts.ts";
import { revertChangeRequest } from "./revert.ts";
import { sendToSession } from "./send-to-session.ts";
import { listHeads } from "./since.ts";
import { withdrawMerge } from "./stop-merging.ts";
import { readTimeline } from "./timeline.ts";
import { readCrTurns } from "./turns.ts";
import { updateBranch } from "./update-branch.ts";

const listQuery = Type.Object({
  ...pageQuery,
  status: Type.Optional(crStatusFilter),
  q: Type.Optional(
    Type.String({
      maxLength: SEARCH_MAX,
      description:
        "A search, as in `is:open author:@me fix`: qualifiers, and words that the title or a branch has; `#12` is a number",
    }),
  ),
  head_ref: Type.Optional(
    Type.String({ minLength: 1, maxLength: REF_MAX_BYTES, description: "The branch merged from" }),
  ),
  created_by: Type.Optional(
    Type.Literal("me", { description: "Only those of the caller; of an agent, those of its user" }),
  ),
});

/** Opening, editing and reading (spec 4.1). Every route requires write access to the project. */
export const changeRequestRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests", tags: ["change requests"] })
    .use(guard(deps))
    .get(
      "",
      ({ caller, project, query }) => {
        const { status = "all", q, head_ref: headRef, created_by } = query;
        const filter = { status, q, headRef, own: created_by === "me" };
        return listChangeRequests(deps, caller, project, filter, readPage(query));
      },
      {
        project: "write",
        query: listQuery,
        ...answer(200, listOf("change_requests", changeRequest)),
      },
    )
    .post(
      "",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return openChangeRequest(deps, caller, project, body);
      },
      { project: "write", body: openChangeRequestBody, ...answer(201, changeRequest) },
    )
    .get("/:crId", ({ project, params }) => getChangeRequest(deps, project, params.crId), {
      project: "write",
      ...answer(200, Type.Object({ change_request: changeRequest })),
    })
    .patch(
      "/:crId",
      ({ caller, project, params, body }) => editChangeRequest(deps, caller, project, params.crId, body),
      {
        project: "write",
        body: editChangeRequestBody,
        ...answer(200, changeRequest),
      },
    )
    .get(
      "/:crId/diff",
      async ({ caller, project, params, query, headers, set }) => {
        const since = query.since === undefined ? undefined : { caller, wanted: query.since };
        const options = {
          ignoreWhitespace: query.whitespace === "ignore",
          pairRenames: query.renames === "pair",
          since,
        };
        if (headers["accept"]?.includes("text/x-diff"))
          return await streamDiff(deps, project, params.crId, options);
        // as text: Elysia would send a Response as a stream
        set.headers["content-type"] = "application/json";
        return diffChangeRequest(deps, project, params.crId, options);
      },
      {
        project: "write",
        query: diffQuery,
        ...answer(200, changeRequestDiff, "text/x-diff"),
      },
    )
    .get("/:crId/code-owners", ({ project, params }) => readCodeOwners(deps, project, params.crId), {
      project: "write",
      ...answer(200, codeOwners),
    });

const diffQuery = Type.Object({
  whitespace: Type.Optional(Type.Literal("ignore")),
  renames: Type.Optional(
    Type.Literal("pair", {
      description: "Pairs files that were renamed, by git's detection, instead of a deletion and an addition",
    }),
  ),
  since: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Only what is new since an earlier head: its number or commit, or `review` for what you reviewed last",
    }),
  ),
});

/** What is around a change request: its timeline, stack, heads and commits, and the turns of its session. */
export const historyRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests", tags: ["change requests"] })
    .use(guard(deps))
    .get("/:crId/stack", ({ project, params }) => listStack(deps, project, params.crId), {
      project: "write",
      ...answer(200, changeRequestStack),
    })
    .get(
      "/:crId/heads",
      ({ caller, project, params, query }) => listHeads(deps, caller, project, params.crId, readPage(query)),
      { project: "write", query: Type.Object(pageQuery), ...answer(200, listOf("heads", changeRequestHead)) },
    )
    .get(
      "/:crId/timeline",
      ({ project, params, query }) => readTimeline(deps, project, params.crId, readPage(query)),
      { project: "write", query: Type.Object(pageQuery), ...answer(200, listOf("events", timelineEvent)) },
    )
    .get(
      "/:crId/commits",
      ({ project, params, query }) => listCrCommits(deps, project, params.crId, readPage(query)),
      { project: "write", query: Type.Object(pageQuery), ...answer(200, listOf("commits", commit)) },
    )
    .get(
      "/:crId/turns",
      ({ caller, project, params, query }) =>
        readCrTurns(deps, caller, project, params.crId, readPage(query)),
      { project: "write", query: Type.Object(pageQuery), ...answer(200, changeRequestTurns) },
    );

/** Merging (spec 4.1), and prompts for the session of a change request. */
export const mergeRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests", tags: ["change requests"] })
    .use(guard(deps))
    .get("/:crId/merge-preview", ({ project, params }) => previewMerge(deps, project, params.crId), {
      project: "write",
      ...answer(200, mergePreview),
    })
    .get("/:crId/brief", ({ project, params }) => briefOf(deps, project, params.crId), {
      project: "write",
      ...answer(200, changeRequestBrief),
    })
    .get("/:crId/manifest", ({ project, params }) => checkManifest(deps, project, params.crId), {
      project: "write",
      ...answer(200, changeRequestManifest),
    })
    .post(
      "/:crId/merge",
      async ({ caller, project, params, body, set }) => {
        const merged = await mergeChangeRequest(deps, caller, project, params.crId, body ?? {});
        if (!merged.merge) set.status = 202;
        return merged;
      },
      {
        project: "write",
        body: mergeChangeRequestBody,
        ...answers({ 200: mergedChangeRequest, 202: changeRequest }),
      },
    )
    .post(
      "/:crId/revert",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return revertChangeRequest(deps, caller, project, params.crId, body ?? {});
      },
      { project: "write", body: revertChangeRequestBody, ...answer(201, changeRequest) },
    )
    .delete(
      "/:crId/queue",
      ({ caller, project, params }) => withdrawMerge(deps, caller, project, params.crId, forgetEntry),
      {
        project: "write",
        ...answer(200, changeRequest),
      },
    )
    .put(
      "/:crId/auto-merge",
      ({ caller, project, params, body }) => enableAutoMerge(deps, caller, project, params.crId, body),
      { project: "write", body: autoMergeBody, ...answer(200, changeRequest) },
    )
    .delete(
      "/:crId/auto-merge",
      ({ caller, project, params }) => withdrawMerge(deps, caller, project, params.crId, forgetAutoMerge),
      {
        project: "write",
        ...answer(200, changeRequest),
      },
    )
    .post(
      "/:crId/send-to-session",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return sendToSession(deps, caller, project, params.crId, body?.comment_ids);
      },
      { project: "write", body: sendToSessionBody, ...answer(202, sentToSession) },
    )
    .post(
      "/:crId/update-branch",
      ({ caller, project, params, body }) => updateBranch(deps, caller, project, params.crId, body ?? {}),
      { project: "write", body: updateBranchBody, ...answer(200, updatedBranch) },
    )
    .post(
      "/:crId/resolve-conflicts",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return resolveConflicts(deps, caller, project, params.crId);
      },
      { project: "write", ...answer(202, sentToSession) },
    );

/** The merge queue of a branch. */
export const mergeQueueRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/queue", tags: ["change requests"] })
    .use(guard(deps))
    .get("", ({ project, query }) => listQueue(deps, project, query.base), {
      project: "write",
      query: baseQuery,
      ...answer(200, mergeQueue),
    });
