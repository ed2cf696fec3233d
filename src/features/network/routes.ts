import { Elysia } from "elysia";
import { allowedHosts, allowHostsBody, sessionNetwork } from "../../contract/network.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { requireReachTo } from "../sessions/agent-reach.ts";
import { allowInManifest } from "./allow.ts";
import { readSessionNetwork } from "./read.ts";

/** What sandboxes may connect to, and what they connected to. */
export const networkRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId", tags: ["sessions"] })
    .use(guard(deps))
    .get(
      "/sessions/:sessionId/network",
      async ({ caller, project, params }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return readSessionNetwork(deps, project, params.sessionId);
      },
      { project: "write", ...answer(200, sessionNetwork) },
    )
    .post(
      "/network/allow",
      ({ caller, project, body }) => allowInManifest(deps, caller, project, body.hosts),
      { project: "write", body: allowHostsBody, ...answer(200, allowedHosts) },
    );
