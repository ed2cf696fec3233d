import { type TString, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  annotationList,
  checkRun,
  checkRunList,
  createCheckRunBody,
  updateCheckRunBody,
} from "../../../contract/check-run.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { listAnnotations } from "./annotations.ts";
import { checkRunId, commitOf, commitRef, filterIn, linkTo, pageIn, pageQuery, runQuery } from "./query.ts";
import { findRun, listRuns, toWire } from "./read.ts";
import { createCheckRun, updateCheckRun } from "./report.ts";

/** Check runs, as GitHub's REST API has them (contract: Change requests). */
export const checkRunRoutes = (deps: Deps) =>
  checkRunsBelow(deps, "/projects/:projectId", { projectId: Type.String() });

/**
 * The same below any path of a project.
 * @param names the parameters of the path
 */
export function checkRunsBelow(deps: Deps, prefix: string, names: Record<string, TString>) {
  const runParams = Type.Object({ ...names, checkRunId });
  return new Elysia({ prefix, tags: ["checks"] })
    .use(guard(deps))
    .post(
      "/check-runs",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return createCheckRun(deps, caller, project, body);
      },
      { project: "report", params: Type.Object(names), body: createCheckRunBody, ...answer(201, checkRun) },
    )
    .patch(
      "/check-runs/:checkRunId",
      ({ caller, project, params, body }) => updateCheckRun(deps, caller, project, params.checkRunId, body),
      { project: "report", params: runParams, body: updateCheckRunBody, ...answer(200, checkRun) },
    )
    .get(
      "/check-runs/:checkRunId",
      async ({ project, params }) =>
        toWire(deps, project, await findRun(deps.db, project, params.checkRunId)),
      { project: "write", params: runParams, ...answer(200, checkRun) },
    )
    .get(
      "/check-runs/:checkRunId/annotations",
      async ({ project, params, query, set, request }) => {
        const run = await findRun(deps.db, project, params.checkRunId);
        const page = pageIn(query);
        Object.assign(set.headers, linkTo(deps, request, page, run.annotationsCount));
        return await listAnnotations(deps.db, run, page);
      },
      { project: "write", params: runParams, query: pageQuery, ...answer(200, annotationList) },
    )
    .get(
      "/commits/:sha/check-runs",
      async ({ project, params, query, set, request }) => {
        const filter = filterIn(query);
        const found = await listRuns(deps, project, await commitOf(deps, project, params.sha), filter);
        Object.assign(set.headers, linkTo(deps, request, filter, found.total_count));
        return found;
      },
      {
        project: "write",
        params: Type.Object({ ...names, sha: commitRef }),
        query: runQuery,
        ...answer(200, checkRunList),
      },
    );
}
