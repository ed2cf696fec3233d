import { Elysia } from "elysia";
import { app, appList, appLogs, appWithDeployments } from "../../../contract/app.ts";
import { preview } from "../../../contract/preview.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { findChangeRequest } from "../../change-requests/row.ts";
import { makeAppLink } from "../link.ts";
import { logQuery, readLogQuery } from "../log-query.ts";
import { readAppLogs } from "../logs.ts";
import { showApp } from "../problem.ts";
import { listApps } from "../read.ts";
import { deployPreview } from "./deploy.ts";
import { findPreview } from "./find.ts";

/** The previews of a change request: its apps, as they are in its head. */
export const previewRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-requests/:crId/apps", tags: ["apps"] })
    .use(guard(deps))
    .get(
      "",
      async ({ project, params }) => {
        const { crId } = await findChangeRequest(deps.db, project, params.crId);
        return await listApps(deps, project, crId);
      },
      { project: "write", ...answer(200, appList) },
    )
    .get(
      "/:slug",
      async ({ project, params }) =>
        showApp(deps, project, await findPreview(deps.db, project, params.crId, params.slug)),
      { project: "write", ...answer(200, appWithDeployments) },
    )
    .post(
      "/:slug/deploy",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return deployPreview(deps, caller, project, params.crId, params.slug);
      },
      { project: "write", ...answer(202, app) },
    )
    .get(
      "/:slug/logs",
      async ({ project, params, query }) => {
        const name = await findPreview(deps.db, project, params.crId, params.slug);
        return await readAppLogs(deps, project, name, readLogQuery(query));
      },
      { project: "write", query: logQuery, ...answer(200, appLogs) },
    )
    .post(
      "/:slug/preview",
      async ({ caller, project, params, set }) => {
        set.status = 201;
        return await makeAppLink(
          deps,
          caller,
          project,
          await findPreview(deps.db, project, params.crId, params.slug),
        );
      },
      { project: "write", ...answer(201, preview) },
    );
