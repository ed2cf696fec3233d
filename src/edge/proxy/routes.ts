import { Elysia } from "elysia";
import { previewBody, preview as previewSchema } from "../../contract/preview.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { makePreviewLink } from "./preview-link.ts";

/** `POST …/sessions/:sessionId/preview` (contract: Preview). */
export const proxyRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/sessions/:sessionId", tags: ["sessions"] })
    .use(guard(deps))
    .post(
      "/preview",
      ({ caller, project, params, body, set }) => {
        set.status = 201;
        return makePreviewLink(deps, caller, project, params.sessionId, body?.port);
      },
      { project: "write", body: previewBody, ...answer(201, previewSchema) },
    );
