import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { guard } from "../auth/guard.ts";
import { fireBody, fired, triggerDetail, triggerList } from "../contract/trigger.ts";
import type { Deps } from "../deps.ts";
import { answer } from "../http/schema.ts";
import { fireByHand } from "./fire-by-hand.ts";
import { getTrigger, listTriggers } from "./list.ts";

/** Contract: Manifest. */
export const triggerRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/triggers", tags: ["triggers"] })
    .use(guard(deps))
    .get("", ({ project }) => listTriggers(deps, project), { project: "write", ...answer(200, triggerList) })
    .get("/:slug", ({ project, params }) => getTrigger(deps, project, params.slug), {
      project: "write",
      ...answer(200, triggerDetail),
    })
    .post(
      "/:slug/fire",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return fireByHand(deps, caller, project, params.slug, body?.text);
      },
      { project: "write", body: Type.Optional(fireBody), ...answer(202, fired) },
    );
