import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { checkLog } from "../../contract/check.ts";
import { combinedStatus, commitStatus, setStatusBody } from "../../contract/commit-status.ts";
import { commitId } from "../../contract/schema.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { LOG_LINES } from "../runs/log.ts";
import { readCheckLog } from "./own/log.ts";
import { setStatus } from "./set-status.ts";
import { combinedStatusOf } from "./statuses.ts";

const params = Type.Object({
  projectId: Type.String(),
  sha: commitId("A full commit id"),
});

/** Results of checks, as CI reports them (contract: Change requests), and the logs of those that svc runs. */
export const checkRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId", tags: ["checks"] })
    .use(guard(deps))
    .post(
      "/statuses/:sha",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return setStatus(deps, caller, project, params.sha, body);
      },
      { project: "report", params, body: setStatusBody, ...answer(201, commitStatus) },
    )
    .get(
      "/commits/:sha/status",
      ({ project, params }) => combinedStatusOf(deps, project, params.sha.toLowerCase()),
      { project: "write", params, ...answer(200, combinedStatus) },
    )
    .get(
      "/checks/:checkId/log",
      ({ project, params, query }) =>
        readCheckLog(
          deps,
          project,
          params.checkId,
          Math.min(Number(query.tail ?? LOG_LINES.default), LOG_LINES.max),
        ),
      {
        project: "write",
        query: Type.Object({ tail: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,5}$" })) }),
        ...answer(200, checkLog),
      },
    );
