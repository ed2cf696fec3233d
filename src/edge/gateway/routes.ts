import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { agentRecord } from "../../contract/agent-record.ts";
import { cloneCredential as cloneCredentialSchema, credentialScope } from "../../contract/project.ts";
import type { Deps } from "../../deps.ts";
import { answer } from "../../http/schema.ts";
import { sendAgentConfig } from "./agent-config.ts";
import { requireDaemon, sendRecord, takeRecord } from "./agent-record.ts";
import { issueCloneCredential } from "./issue.ts";

/** The routes for a starting sandbox (spec 4.2): the only ones that accept a sandbox service key. */
export const gatewayRoutes = (deps: Deps) =>
  new Elysia({
    prefix: "/projects/:projectId/git",
    tags: ["git"],
    detail: { security: [{ serviceKey: [] }] },
  })
    .get(
      "/clone-credential",
      ({ params, query, request }) =>
        issueCloneCredential(deps, request.headers.get("authorization"), params.projectId, query.scope),
      {
        query: Type.Object({ scope: Type.Optional(credentialScope) }),
        ...answer(200, cloneCredentialSchema),
      },
    )
    .get(
      "/agent-config",
      ({ params, request }) => sendAgentConfig(deps, request.headers.get("authorization"), params.projectId),
      { detail: AGENT_CONFIG },
    )
    .get(
      "/agent-record",
      ({ params, request }) => sendRecord(deps, request.headers.get("authorization"), params.projectId),
      answer(200, agentRecord),
    )
    .put(
      "/agent-record",
      async ({ params, request, body, set }) => {
        await takeRecord(deps, request.headers.get("authorization"), params.projectId, body);
        set.status = 204;
      },
      {
        // before the body is validated
        async transform({ request, params }) {
          await requireDaemon(deps, request.headers.get("authorization"), params.projectId);
        },
        body: agentRecord,
        detail: { responses: { 204: { description: "It is kept" } } },
      },
    );

const AGENT_CONFIG = {
  responses: {
    200: {
      description: "The default branch's folder of agents, skills and tools",
      content: { "application/x-tar": { schema: Type.String({ format: "binary" }) } },
    },
    204: { description: "The default branch has none" },
  },
};
