import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { workspaceChanges, workspaceFolder } from "../../../contract/workspace.ts";
import type { Deps } from "../../../deps.ts";
import { answer } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { requireReachTo } from "../agent-reach.ts";
import { readWorkspaceChanges, streamWorkspacePatch } from "./changes.ts";
import { readWorkspaceFile } from "./contents.ts";
import { listWorkspaceFolder } from "./folder.ts";

const place = Type.Object({
  path: Type.Optional(Type.String({ description: "From the root of the workspace" })),
  path_base64: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9+/_-]*={0,2}$",
      description: "Instead of path, for a path that is not UTF-8",
    }),
  ),
});

const file = {
  description: "The bytes of the file",
  content: { "application/octet-stream": { schema: { type: "string" as const, format: "binary" } } },
};

/** The files in the sandbox of a session, as they are now. Reading them does not keep the session from becoming idle. */
export const workspaceRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/sessions/:sessionId", tags: ["sessions"] })
    .use(guard(deps))
    .get(
      "/files",
      async ({ caller, project, params: { sessionId }, query, request: { signal } }) => {
        await requireReachTo(deps, caller, project, sessionId);
        return listWorkspaceFolder(deps, project, sessionId, { query, signal });
      },
      { project: "write", query: place, ...answer(200, workspaceFolder) },
    )
    .get(
      "/contents",
      async ({ caller, project, params: { sessionId }, query, headers }) => {
        await requireReachTo(deps, caller, project, sessionId);
        return readWorkspaceFile(deps, project, sessionId, { query, range: headers["range"] });
      },
      { project: "write", query: place, detail: { responses: { 200: file } } },
    )
    .get(
      "/diff",
      async ({ caller, project, params: { sessionId }, query, headers, request: { signal } }) => {
        await requireReachTo(deps, caller, project, sessionId);
        if (headers["accept"]?.includes("text/x-diff"))
          return streamWorkspacePatch(deps, project, sessionId, query);
        return readWorkspaceChanges(deps, project, sessionId, signal);
      },
      { project: "write", query: place, ...answer(200, workspaceChanges, "text/x-diff") },
    );
