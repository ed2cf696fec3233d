import { Elysia } from "elysia";
import { changeRequest } from "../../contract/change-request.ts";
import {
  approveBody,
  requestChangesBody,
  reviewBody,
  submittedReview,
} from "../../contract/change-request-review.ts";
import { check, checkList, rerunCheckBody } from "../../contract/check.ts";
import { sendChecksBody, sentToSession } from "../../contract/comment.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { approveChangeRequest, removeRequest, requestChanges, withdrawApproval } from "./approvals.ts";
import { listCrChecks, rerunCrCheck } from "./checks.ts";
import { closeChangeRequest, reopenChangeRequest } from "./close.ts";
import { submitReview } from "./review.ts";
import { sendChecks } from "./send-checks.ts";

/** The checks that svc runs on the last commit. */
export const crCheckRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests", tags: ["checks"] })
    .use(guard(deps))
    .get("/:crId/checks", ({ project, params }) => listCrChecks(deps, project, params.crId), {
      project: "write",
      ...answer(200, checkList),
    })
    .post(
      "/:crId/checks/rerun",
      ({ project, params, body, set }) => {
        set.status = 202;
        return rerunCrCheck(deps, project, params.crId, body.name);
      },
      { project: "write", body: rerunCheckBody, ...answer(202, check) },
    )
    .post(
      "/:crId/checks/send-to-session",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return sendChecks(deps, caller, project, params.crId, body?.names);
      },
      { project: "write", body: sendChecksBody, ...answer(202, sentToSession) },
    );

/** Reviewing and closing (spec 4.1). */
export const approvalRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests", tags: ["change requests"] })
    .use(guard(deps))
    .post(
      "/:crId/reviews",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return submitReview(deps, caller, project, params.crId, body);
      },
      { project: "write", body: reviewBody, ...answer(201, submittedReview) },
    )
    .post(
      "/:crId/approve",
      ({ caller, project, params, body }) =>
        approveChangeRequest(deps, caller, project, params.crId, body?.head_commit_sha),
      { project: "write", body: approveBody, ...answer(200, changeRequest) },
    )
    .delete(
      "/:crId/approve",
      ({ caller, project, params }) => withdrawApproval(deps, caller, project, params.crId),
      { project: "write", ...answer(200, changeRequest) },
    )
    .post(
      "/:crId/request-changes",
      ({ caller, project, params, body }) => requestChanges(deps, caller, project, params.crId, body),
      { project: "write", body: requestChangesBody, ...answer(200, changeRequest) },
    )
    .delete(
      "/:crId/request-changes",
      ({ caller, project, params }) => removeRequest(deps, caller, project, params.crId, caller.userId),
      { project: "write", ...answer(200, changeRequest) },
    )
    .delete(
      "/:crId/request-changes/:userId",
      ({ caller, project, params }) => removeRequest(deps, caller, project, params.crId, params.userId),
      { project: "manage", ...answer(200, changeRequest) },
    )
    .post(
      "/:crId/close",
      ({ caller, project, params }) => closeChangeRequest(deps, caller, project, params.crId),
      {
        project: "write",
        ...answer(200, changeRequest),
      },
    )
    .post(
      "/:crId/reopen",
      ({ caller, project, params }) => reopenChangeRequest(deps, caller, project, params.crId),
      {
        project: "write",
        ...answer(200, changeRequest),
      },
    );
