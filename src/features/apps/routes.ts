import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  app,
  appList,
  appLogs,
  appWithDeployments,
  deployment,
  deploymentDiff,
  rollbackBody,
} from "../../contract/app.ts";
import { preview } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf, ok } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { deployApp, stopApp } from "./deploy.ts";
import { diffDeployment, streamDeploymentDiff } from "./diff.ts";
import { makeAppLink } from "./link.ts";
import { logQuery, number, readLogQuery } from "./log-query.ts";
import { readAppLogs } from "./logs.ts";
import { showApp } from "./problem.ts";
import { listApps, listDeployments } from "./read.ts";
import { rollBackApp } from "./rollback.ts";
import { removeVolume } from "./volumes/remove.ts";

/** Contract: Manifest, `[[apps]]`. */
export const appRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/apps", tags: ["apps"] })
    .use(guard(deps))
    .get("", ({ project }) => listApps(deps, project), {
      project: "write",
      ...answer(200, appList),
    })
    .get("/:slug", ({ project, params }) => showApp(deps, project, params.slug), {
      project: "write",
      ...answer(200, appWithDeployments),
    })
    .post(
      "/:slug/deploy",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return deployApp(deps, caller, project, params.slug);
      },
      { project: "write", ...answer(202, app) },
    )
    .post(
      "/:slug/stop",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return stopApp(deps, caller, project, params.slug);
      },
      { project: "write", ...answer(202, app) },
    )
    .post(
      "/:slug/rollback",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return rollBackApp(deps, caller, project, params.slug, body.deployment ?? null);
      },
      { project: "write", body: rollbackBody, ...answer(202, app) },
    )
    .get(
      "/:slug/deployments",
      ({ project, params, query }) => listDeployments(deps, project, params.slug, readPage(query)),
      { project: "write", query: Type.Object(pageQuery), ...answer(200, listOf("deployments", deployment)) },
    )
    .get(
      "/:slug/deployments/:number/diff",
      async ({ project, params, headers, set }) => {
        const at = [deps, project, params.slug, Number(params.number)] as const;
        if (headers["accept"]?.includes("text/x-diff")) return await streamDeploymentDiff(...at);
        // as text: Elysia would send a Response as a stream
        set.headers["content-type"] = "application/json";
        return diffDeployment(...at);
      },
      {
        project: "write",
        params: Type.Object({ projectId: Type.String(), slug: Type.String(), number }),
        ...answer(200, deploymentDiff, "text/x-diff"),
      },
    )
    .get(
      "/:slug/logs",
      ({ project, params, query }) => readAppLogs(deps, project, params.slug, readLogQuery(query)),
      {
        project: "write",
        query: logQuery,
        ...answer(200, appLogs),
      },
    )
    .delete(
      "/:slug/volume",
      ({ caller, project, params }) => removeVolume(deps, caller, project, params.slug),
      {
        project: "manage",
        ...answer(200, ok),
      },
    )
    .post(
      "/:slug/preview",
      ({ caller, project, params, set }) => {
        set.status = 201;
        return makeAppLink(deps, caller, project, params.slug);
      },
      { project: "write", ...answer(201, preview) },
    );
