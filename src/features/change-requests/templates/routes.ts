import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { changeRequestTemplates } from "../../../contract/change-request-template.ts";
import { REF_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { listTemplates } from "./list.ts";

/** The texts to begin the description of a change request with. */
export const templateRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/change-request-templates", tags: ["change requests"] })
    .use(guard(deps))
    .get("", ({ project, query }) => listTemplates(deps, project, query.base), {
      project: "write",
      query: Type.Object({
        base: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: REF_MAX_BYTES,
            description: "The branch that is merged into; the default branch if omitted",
          }),
        ),
      }),
      ...answer(200, changeRequestTemplates),
    });
