import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  addCommentBody,
  appliedSuggestion,
  appliedSuggestions,
  applySuggestionBody,
  applySuggestionsBody,
  comment,
  editCommentBody,
} from "../../../contract/comment.ts";
import type { Deps } from "../../../deps.ts";
import { pageQuery, readPage } from "../../../http/page.ts";
import { answer, listOf, ok } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { addComment } from "./add.ts";
import { applySuggestions } from "./apply.ts";
import { deleteComment, editComment, resolveComment } from "./change.ts";
import { listComments } from "./list.ts";

/** Comments on a change request. */
export const commentRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests/:crId/comments", tags: ["change requests"] })
    .use(guard(deps))
    .get(
      "",
      ({ project, params, query }) =>
        listComments(deps, project, params.crId, { ...readPage(query), isOpen: query.open === "true" }),
      {
        project: "write",
        query: Type.Object({
          ...pageQuery,
          open: Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false")])),
        }),
        ...answer(200, listOf("comments", comment)),
      },
    )
    .post(
      "",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return addComment(deps, caller, project, params.crId, body);
      },
      { project: "write", body: addCommentBody, ...answer(201, comment) },
    )
    .patch(
      "/:commentId",
      ({ caller, project, params, body }) => editComment(deps, caller, project, params, body.body),
      { project: "write", body: editCommentBody, ...answer(200, comment) },
    )
    .delete(
      "/:commentId",
      ({ caller, role, project, params }) => deleteComment(deps, caller, role, project, params),
      { project: "write", ...answer(200, ok) },
    )
    .post(
      "/apply",
      ({ caller, project, params, body }) => applySuggestions(deps, caller, project, params.crId, body),
      { project: "write", body: applySuggestionsBody, ...answer(200, appliedSuggestions) },
    )
    .post(
      "/:commentId/apply",
      async ({ caller, project, params, body }) => {
        const one = { ...body, comment_ids: [params.commentId] };
        const { commit_sha, comments } = await applySuggestions(deps, caller, project, params.crId, one);
        return { commit_sha, comment: comments[0] };
      },
      { project: "write", body: applySuggestionBody, ...answer(200, appliedSuggestion) },
    )
    .post(
      "/:commentId/resolve",
      ({ caller, project, params }) => resolveComment(deps, caller, project, params, true),
      { project: "write", ...answer(200, comment) },
    )
    .post(
      "/:commentId/unresolve",
      ({ caller, project, params }) => resolveComment(deps, caller, project, params, false),
      { project: "write", ...answer(200, comment) },
    );
