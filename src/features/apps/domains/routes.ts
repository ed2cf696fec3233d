import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { addDomainBody, appDomain } from "../../../contract/app-domain.ts";
import type { Deps } from "../../../deps.ts";
import { answer, ok } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { addDomain } from "./add.ts";
import { listDomains } from "./list.ts";
import { removeDomain } from "./remove.ts";
import { verifyDomain } from "./verify.ts";

/** The domains of a project's apps. */
export const appDomainRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/apps/:slug/domains", tags: ["apps"] })
    .use(guard(deps))
    .get("", ({ project, params }) => listDomains(deps, project, params.slug), {
      project: "write",
      ...answer(200, Type.Object({ domains: Type.Array(appDomain) })),
    })
    .post(
      "",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return addDomain(deps, caller, project, params.slug, body.domain);
      },
      { project: "manage", body: addDomainBody, ...answer(201, appDomain) },
    )
    .post(
      "/:domain/verify",
      ({ project, params }) => verifyDomain(deps, project, params.slug, params.domain),
      { project: "manage", ...answer(200, appDomain) },
    )
    .delete(
      "/:domain",
      ({ caller, project, params }) => removeDomain(deps, caller, project, params.slug, params.domain),
      {
        project: "manage",
        ...answer(200, ok),
      },
    );
