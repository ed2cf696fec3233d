import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { exec, execBody, startedExec } from "../../../contract/exec.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { listExecs } from "./list.ts";
import { startExec } from "./start.ts";

/** Commands of people in a session's sandbox. An agent has its own, so its token is refused. */
export const execRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/sessions/:sessionId/exec", tags: ["sessions"] })
    .use(guard(deps))
    .get("", ({ project, params }) => listExecs(deps, project, params.sessionId), {
      project: "write",
      ...answer(200, Type.Object({ commands: Type.Array(exec) })),
    })
    .post(
      "",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return startExec(deps, caller, project, params.sessionId, body);
      },
      { project: "user", body: execBody, ...answer(201, startedExec) },
    );
