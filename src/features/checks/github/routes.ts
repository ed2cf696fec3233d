import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  annotationList,
  checkRun,
  checkRunList,
  createCheckRunBody,
  updateCheckRunBody,
} from "../../../contract/check-run.ts";
import { setStatusBody } from "../../../contract/commit-status.ts";
import { githubCombinedStatus, githubStatus } from "../../../contract/github.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { listAnnotations } from "../runs/annotations.ts";
import {
  checkRunId,
  commitOf,
  commitRef,
  filterIn,
  linkTo,
  pageIn,
  pageQuery,
  runQuery,
} from "../runs/query.ts";
import { findRun, listRuns, toWire } from "../runs/read.ts";
import { createCheckRun, updateCheckRun } from "../runs/report.ts";
import { setStatus } from "../set-status.ts";
import { requireOwner } from "./repository.ts";
import { githubCombinedStatusOf, toGithub } from "./statuses.ts";

/** The repository is named as the parameter that the guard reads: the slug of a project. */
const repository = {
  owner: Type.String({ description: "The slug of the account" }),
  projectId: Type.String({ description: "The slug of the project" }),
};
const runParams = Type.Object({ ...repository, checkRunId });
const refParams = Type.Object({ ...repository, sha: commitRef });

/**
 * The paths of GitHub's REST API for commit statuses and check runs, so that what reports to GitHub reports to svc with another
 * URL and token: `GITHUB_API_URL=https://svc.example.com/v1/github`.
 */
export const githubRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/github/repos/:owner/:projectId", tags: ["checks"] })
    .use(guard(deps))
    .post(
      "/statuses/:sha",
      async ({ caller, project, params, body, set }) => {
        await requireOwner(deps, project, params.owner);
        set.status = 201;
        return toGithub(await setStatus(deps, caller, project, params.sha, body));
      },
      { project: "write", params: refParams, body: setStatusBody, ...answer(201, githubStatus) },
    )
    .get(
      "/commits/:sha/status",
      async ({ project, params }) => {
        await requireOwner(deps, project, params.owner);
        return await githubCombinedStatusOf(deps, project, await commitOf(deps, project, params.sha));
      },
      { project: "write", params: refParams, ...answer(200, githubCombinedStatus) },
    )
    .get(
      "/commits/:sha/check-runs",
      async ({ project, params, query, set, request }) => {
        await requireOwner(deps, project, params.owner);
        const filter = filterIn(query);
        const found = await listRuns(deps, project, await commitOf(deps, project, params.sha), filter);
        Object.assign(set.headers, linkTo(deps, request, filter, found.total_count));
        return found;
      },
      { project: "write", params: refParams, query: runQuery, ...answer(200, checkRunList) },
    )
    .post(
      "/check-runs",
      async ({ caller, project, params, body, set }) => {
        await requireOwner(deps, project, params.owner);
        set.status = 201;
        return await createCheckRun(deps, caller, project, body);
      },
      {
        project: "write",
        params: Type.Object(repository),
        body: createCheckRunBody,
        ...answer(201, checkRun),
      },
    )
    .patch(
      "/check-runs/:checkRunId",
      async ({ caller, project, params, body }) => {
        await requireOwner(deps, project, params.owner);
        return await updateCheckRun(deps, caller, project, params.checkRunId, body);
      },
      { project: "write", params: runParams, body: updateCheckRunBody, ...answer(200, checkRun) },
    )
    .get(
      "/check-runs/:checkRunId",
      async ({ project, params }) => {
        await requireOwner(deps, project, params.owner);
        return await toWire(deps, project, await findRun(deps.db, project, params.checkRunId));
      },
      { project: "write", params: runParams, ...answer(200, checkRun) },
    )
    .get(
      "/check-runs/:checkRunId/annotations",
      async ({ project, params, query, set, request }) => {
        await requireOwner(deps, project, params.owner);
        const run = await findRun(deps.db, project, params.checkRunId);
        const page = pageIn(query);
        Object.assign(set.headers, linkTo(deps, request, page, run.annotationsCount));
        return await listAnnotations(deps.db, run, page);
      },
      { project: "write", params: runParams, query: pageQuery, ...answer(200, annotationList) },
    );
