import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  answerAskBody,
  completeConsentBody,
  connectedConnector,
  connector,
  connectorAsk,
  connectorCall,
  connectorConsent,
  connectorTest,
} from "../../contract/connector.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { answerAsk, listAsks } from "./answer.ts";
import { listConnectors } from "./list.ts";
import { completeConsent, connectConnector, disconnectConnector } from "./oauth/connect.ts";
import { listCalls } from "./record.ts";
import { testConnector } from "./test.ts";

const projectId = Type.String();
const ofConnector = {
  project: "manage",
  params: Type.Object({ projectId, slug: Type.String() }),
} as const;

/** The connectors of a project. Agents see and test them; only people see the calls and answer questions. */
export const connectorRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId", tags: ["connectors"] })
    .use(guard(deps))
    .get("/connectors", ({ project }) => listConnectors(deps, project), {
      project: "write",
      ...answer(200, listOf("connectors", connector)),
    })
    .post("/connectors/:slug/test", ({ project, params }) => testConnector(deps, project, params.slug), {
      project: "write",
      params: Type.Object({ projectId, slug: Type.String() }),
      ...answer(200, connectorTest),
    })
    .post(
      "/connectors/:slug/connect",
      ({ caller, project, params }) => connectConnector(deps, caller, project, params.slug),
      { ...ofConnector, ...answer(200, connectorConsent) },
    )
    .delete(
      "/connectors/:slug/connect",
      ({ caller, project, params }) => disconnectConnector(deps, caller, project, params.slug),
      { ...ofConnector, ...answer(200, ok) },
    )
    .post(
      "/connector-consents",
      ({ caller, project, body }) => completeConsent(deps, caller, project, body),
      { project: "manage", body: completeConsentBody, ...answer(200, connectedConnector) },
    )
    .get("/connector-calls", ({ project, query }) => listCalls(deps, project, readPage(query)), {
      project: "user",
      query: Type.Object(pageQuery),
      ...answer(200, listOf("calls", connectorCall)),
    })
    .get(
      "/connector-asks",
      ({ project, query }) => listAsks(deps, project, { pending: query.state === "pending" }),
      {
        project: "user",
        query: Type.Object({
          state: Type.Optional(
            Type.Union([Type.Literal("pending"), Type.Literal("all")], { description: "all if left out" }),
          ),
        }),
        ...answer(200, listOf("asks", connectorAsk)),
      },
    )
    .post(
      "/connector-asks/:askId/answer",
      ({ caller, project, params, body }) => answerAsk(deps, caller, project, params.askId, body),
      {
        project: "user",
        params: Type.Object({ projectId, askId: uuidParam }),
        body: answerAskBody,
        ...answer(200, connectorAsk),
      },
    );
