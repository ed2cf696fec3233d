import { Elysia } from "elysia";
import { projectManifest } from "../../contract/manifest/wire.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { readProjectManifest } from "./read.ts";

export const manifestRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/manifest", tags: ["projects"] })
    .use(guard(deps))
    .get("", ({ project }) => readProjectManifest(deps, project), {
      project: "write",
      ...answer(200, projectManifest),
    });
