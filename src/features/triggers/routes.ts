import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { fireBody, fired, switchBody, switched, triggerDetail, triggerList } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { fireManually } from "./fire-manually.ts";
import { getTrigger, listTriggers } from "./list.ts";
import { switchTrigger } from "./switch.ts";

/** Contract: Manifest. */
export const triggerRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/triggers", tags: ["triggers"] })
    .use(guard(deps))
    .get("", ({ project }) => listTriggers(deps, project), { project: "write", ...answer(200, triggerList) })
    .get("/:slug", ({ project, params }) => getTrigger(deps, project, params.slug), {
      project: "write",
      ...answer(200, triggerDetail),
    })
    .patch(
      "/:slug",
      ({ caller, project, params, body }) => switchTrigger(deps, caller, project, params.slug, body.enabled),
      { project: "write", body: switchBody, ...answer(200, switched) },
    )
    .post(
      "/:slug/fire",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return fireManually(deps, caller, project, params.slug, body?.text);
      },
      { project: "write", body: Type.Optional(fireBody), ...answer(202, fired) },
    );
