import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { secret, secretList, secretValueBody, setSecretBody } from "../../contract/secret.ts";
import type { Deps } from "../../deps.ts";
import { answer, ok } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { listSecrets } from "./list.ts";
import { setSecret, unsetSecret } from "./set.ts";

export const secretRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/secrets", tags: ["secrets"] })
    .use(guard(deps))
    .get("", ({ project }) => listSecrets(deps, project), { project: "write", ...answer(200, secretList) })
    .post("", ({ caller, project, body }) => setSecret(deps, caller, project, body.name, body), {
      project: "write",
      body: setSecretBody,
      ...answer(200, secret),
    })
    .put(
      "/:name",
      ({ caller, project, params, body }) => setSecret(deps, caller, project, params.name, body),
      {
        project: "write",
        params: Type.Object({ projectId: Type.String(), name: Type.String() }),
        body: secretValueBody,
        ...answer(200, secret),
      },
    )
    .delete("/:name", ({ caller, project, params }) => unsetSecret(deps, caller, project, params.name), {
      project: "write",
      params: Type.Object({ projectId: Type.String(), name: Type.String() }),
      ...answer(200, ok),
    });
