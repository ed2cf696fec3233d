import { Elysia } from "elysia";
import { chooseTryBody, createTriesBody, tries } from "../../contract/tries.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { chooseTry } from "./choose.ts";
import { createTries } from "./create.ts";
import { readTries } from "./read.ts";

/** Several sessions at one task. */
export const triesRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/tries", tags: ["sessions"] })
    .use(guard(deps))
    .post(
      "",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return createTries(deps, caller, project, body);
      },
      { project: "write", body: createTriesBody, ...answer(201, tries) },
    )
    .get("/:triesId", ({ project, params }) => readTries(deps, project, params.triesId), {
      project: "write",
      ...answer(200, tries),
    })
    .post(
      "/:triesId/choose",
      ({ caller, project, params, body }) =>
        chooseTry(deps, caller, project, params.triesId, body.session_id),
      // an agent must not choose its own work
      { project: "user", body: chooseTryBody, ...answer(200, tries) },
    );
