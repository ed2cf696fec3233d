import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { cloneCredential as cloneCredentialSchema, credentialScope } from "../contract/project.ts";
import type { Deps } from "../deps.ts";
import { answer } from "../http/schema.ts";
import { issueCloneCredential } from "./issue.ts";

/** `GET /projects/:projectId/git/clone-credential` (spec 4.2): the one route that a sandbox service key opens. */
export const gatewayRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/git", tags: ["git"] }).get(
    "/clone-credential",
    ({ params, query, request }) =>
      issueCloneCredential(deps, request.headers.get("authorization"), params.projectId, query.scope),
    { query: Type.Object({ scope: Type.Optional(credentialScope) }), ...answer(200, cloneCredentialSchema) },
  );
