import { Elysia } from "elysia";
import { changeRequestTemplates } from "../../../contract/change-request-template.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { baseQuery } from "../base-query.ts";
import { listTemplates } from "./list.ts";

/** The texts to begin the description of a change request with. */
export const templateRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-request-templates", tags: ["change requests"] })
    .use(guard(deps))
    .get("", ({ project, query }) => listTemplates(deps, project, query.base), {
      project: "write",
      query: baseQuery,
      ...answer(200, changeRequestTemplates),
    });
