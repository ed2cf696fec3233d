import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ownSecret, ownSecretBody, ownSecretList } from "../../../contract/secret.ts";
import type { Deps } from "../../../deps.ts";
import { answer, ok } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { allowOwnSecret, denyOwnSecret } from "./allow.ts";
import { readOwnSecrets } from "./row.ts";
import { setOwnSecret, unsetOwnSecret } from "./set.ts";

const named = Type.Object({ name: Type.String() });
const inProject = Type.Object({ name: Type.String(), projectId: Type.String() });

/** The secrets that the caller holds. */
export const ownSecretRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts/secrets", tags: ["secrets"] })
    .use(guard(deps))
    .get("", async ({ caller }) => ({ items: await readOwnSecrets(deps.db, caller.userId) }), {
      user: true,
      ...answer(200, ownSecretList),
    })
    .put("/:name", ({ caller, params, body }) => setOwnSecret(deps, caller, params.name, body), {
      user: true,
      params: named,
      body: ownSecretBody,
      ...answer(200, ownSecret),
    })
    .delete("/:name", ({ caller, params }) => unsetOwnSecret(deps, caller, params.name), {
      user: true,
      params: named,
      ...answer(200, ok),
    })
    .put(
      "/:name/projects/:projectId",
      ({ caller, project, params }) => allowOwnSecret(deps, caller, project, params.name),
      { project: "user", params: inProject, ...answer(200, ownSecret) },
    )
    .delete(
      "/:name/projects/:projectId",
      ({ caller, project, params }) => denyOwnSecret(deps, caller, project, params.name),
      { project: "user", params: inProject, ...answer(200, ownSecret) },
    );
