import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  annotationList,
  checkRun,
  checkRunList,
  createCheckRunBody,
  RUN_PAGE,
  RUN_STATUSES,
  updateCheckRunBody,
} from "../../../contract/check-run.ts";
import { oneOf } from "../../../contract/schema.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { resolveRef } from "../../repository/resolve.ts";
import { listAnnotations } from "./annotations.ts";
import { findRun, listRuns, toWire } from "./read.ts";
import { createCheckRun, updateCheckRun } from "./report.ts";

const runParams = Type.Object({
  projectId: Type.String(),
  checkRunId: Type.String({ pattern: "^[1-9][0-9]{0,14}$" }),
});
const refParams = Type.Object({
  projectId: Type.String(),
  sha: Type.String({ description: "A full commit id, a branch or a tag" }),
});
const page = {
  per_page: Type.Optional(Type.String({ pattern: "^[1-9][0-9]?$|^100$", description: "30 by default" })),
  page: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,3}$", description: "From 1" })),
};
const listQuery = Type.Object({
  check_name: Type.Optional(Type.String()),
  status: Type.Optional(oneOf(RUN_STATUSES)),
  filter: Type.Optional(oneOf(["latest", "all"])),
  ...page,
});

/** Check runs, as GitHub's REST API has them (contract: Change requests). */
export const checkRunRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId", tags: ["checks"] })
    .use(guard(deps))
    .post(
      "/check-runs",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return createCheckRun(deps, caller, project, body);
      },
      { project: "write", body: createCheckRunBody, ...answer(201, checkRun) },
    )
    .patch(
      "/check-runs/:checkRunId",
      ({ caller, project, params, body }) => updateCheckRun(deps, caller, project, params.checkRunId, body),
      { project: "write", params: runParams, body: updateCheckRunBody, ...answer(200, checkRun) },
    )
    .get(
      "/check-runs/:checkRunId",
      async ({ project, params }) =>
        toWire(deps, project, await findRun(deps.db, project, params.checkRunId)),
      { project: "write", params: runParams, ...answer(200, checkRun) },
    )
    .get(
      "/check-runs/:checkRunId/annotations",
      async ({ project, params, query }) =>
        listAnnotations(deps.db, await findRun(deps.db, project, params.checkRunId), pageIn(query)),
      { project: "write", params: runParams, query: Type.Object(page), ...answer(200, annotationList) },
    )
    .get(
      "/commits/:sha/check-runs",
      async ({ project, params, query }) =>
        listRuns(deps, project, await commitOf(deps, project, params.sha), {
          name: query.check_name,
          status: query.status,
          all: query.filter === "all",
          ...pageIn(query),
        }),
      { project: "write", params: refParams, query: listQuery, ...answer(200, checkRunList) },
    );

function pageIn(query: { per_page?: string; page?: string }): { limit: number; offset: number } {
  const limit = Math.min(Number(query.per_page ?? RUN_PAGE.default), RUN_PAGE.max);
  return { limit, offset: (Number(query.page ?? 1) - 1) * limit };
}

/** The commit of a ref; a full id is itself, whether the repository has it or not. */
async function commitOf(deps: Deps, project: ProjectRow, ref: string): Promise<string> {
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(ref)) return ref.toLowerCase();
  return (await resolveRef(deps, project, ref)).commit;
}
