import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { conversationEvent, conversationPage, conversationQuery, turnPart } from "../../../contract/turn.ts";
import type { Deps } from "../../../deps.ts";
import { pageQuery, readPage } from "../../../http/page.ts";
import { answer, answerEvents } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { whileAllowed } from "../../../identity/auth/while-allowed.ts";
import { requireReachTo } from "../agent-reach.ts";
import { streamConversation } from "./events.ts";
import { readConversation, readPart } from "./read.ts";

/** What was said and done in a session. A service key reaches only its own session's. */
export const conversationRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/sessions", tags: ["sessions"] })
    .use(guard(deps))
    .get(
      "/:sessionId/conversation",
      async ({ caller, project, params, query }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return readConversation(deps, project, params.sessionId, readPage(query), query.brief === "true");
      },
      {
        project: "write",
        query: Type.Object({ ...pageQuery, ...conversationQuery }),
        ...answer(200, conversationPage),
      },
    )
    .get(
      "/:sessionId/conversation/parts/:partId",
      async ({ caller, project, params }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return readPart(deps, project, params.sessionId, params.partId);
      },
      { project: "write", ...answer(200, turnPart) },
    )
    .get(
      "/:sessionId/conversation/events",
      async ({ caller, project, params, headers, query, again }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        const events = await streamConversation(
          deps,
          project,
          params.sessionId,
          headers["last-event-id"] ?? null,
          query.brief === "true",
        );
        return new Response(whileAllowed(events, again), {
          headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
        });
      },
      {
        project: "write",
        query: Type.Object(conversationQuery),
        ...answerEvents("The turns, their parts, and their changes", conversationEvent),
      },
    );
