import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { TITLE_MAX } from "../../contract/limits.ts";
import { listeningPort } from "../../contract/ports.ts";
import { savedWork } from "../../contract/saved-work.ts";
import {
  answerBody,
  createSessionBody,
  editSessionBody,
  logLine,
  restartSessionBody,
  runtimeOffer,
  session,
  sessionChoices,
  sessionEvent,
  sessionStatus,
} from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, answerEvents, listOf, ok } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { whileAllowed } from "../../identity/auth/while-allowed.ts";
import { LOG_LINES } from "../runs/log.ts";
import { abortSession } from "./abort.ts";
import { requireReachTo } from "./agent-reach.ts";
import { answerSession } from "./answer.ts";
import { readSessionChoices } from "./choices/read.ts";
import { listRuntimes } from "./choices/runtimes.ts";
import { createSession } from "./create.ts";
import { deleteSession } from "./delete.ts";
import { editSession } from "./edit.ts";
import { streamEvents } from "./events.ts";
import { readLogs } from "./logs.ts";
import { listPorts } from "./ports/list.ts";
import type { ReferencesIn } from "./prompts/attachments.ts";
import { getSession, listSessions } from "./read.ts";
import { restartSession } from "./restart.ts";
import { readSaved, streamSaved } from "./saved.ts";
import { stopSession } from "./stop.ts";

/** The life of a session (contract: Sessions, sandboxes, proxy). */
export const sessionRoutes = (deps: Deps, referencesIn: ReferencesIn) =>
  new Elysia({ prefix: "/projects/:projectId/sessions", tags: ["sessions"] })
    .use(guard(deps))
    .get(
      "",
      ({ project, query: { status, q, ...rest } }) =>
        listSessions(deps, project, { ...readPage(rest), status, q }),
      {
        project: "write",
        query: Type.Object({
          ...pageQuery,
          status: Type.Optional(sessionStatus),
          q: Type.Optional(
            Type.String({ maxLength: TITLE_MAX, description: "Part of the title or of the branch" }),
          ),
        }),
        ...answer(200, listOf("sessions", session)),
      },
    )
    .post(
      "",
      async ({ caller, project, body, set }) => {
        set.status = 201;
        const references = await referencesIn(project, body.initial_prompt ?? "");
        return createSession(deps, caller, project, body, references);
      },
      { project: "write", body: createSessionBody, ...answer(201, session) },
    )
    .get("/:sessionId", ({ project, params }) => getSession(deps, project, params.sessionId), {
      project: "write",
      ...answer(200, session),
    })
    .patch(
      "/:sessionId",
      ({ caller, project, params, body }) => editSession(deps, caller, project, params.sessionId, body),
      { project: "write", body: editSessionBody, ...answer(200, session) },
    )
    .get(
      "/:sessionId/choices",
      ({ project, params }) => readSessionChoices(deps, project, params.sessionId),
      {
        project: "write",
        ...answer(200, sessionChoices),
      },
    )
    .delete(
      "/:sessionId",
      ({ caller, project, params }) => deleteSession(deps, caller, project, params.sessionId),
      {
        project: "write",
        ...answer(200, ok),
      },
    )
    .post(
      "/:sessionId/restart",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return restartSession(deps, caller, project, params.sessionId, body?.restore ?? false);
      },
      { project: "write", body: Type.Optional(restartSessionBody), ...answer(202, session) },
    )
    .post(
      "/:sessionId/stop",
      ({ caller, project, params, set }) => {
        set.status = 202;
        return stopSession(deps, caller, project, params.sessionId);
      },
      { project: "write", ...answer(202, session) },
    );

/** The agents that a project's sessions can have. */
export const runtimeRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/runtimes", tags: ["sessions"] })
    .use(guard(deps))
    .get("", ({ caller, project }) => listRuntimes(deps, caller, project), {
      project: "write",
      ...answer(200, Type.Object({ runtimes: Type.Array(runtimeOffer) })),
    });

/** What is inside a session: saved work, log. A service key reaches only its own session's. */
export const sessionContentRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/sessions", tags: ["sessions"] })
    .use(guard(deps))
    .get(
      "/:sessionId/saved",
      async ({ caller, project, params, headers, set }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        if (headers["accept"]?.includes("text/x-diff"))
          return await streamSaved(deps, project, params.sessionId);
        // as text: Elysia would send a Response as a stream
        set.headers["content-type"] = "application/json";
        return readSaved(deps, project, params.sessionId);
      },
      { project: "write", ...answer(200, savedWork, "text/x-diff") },
    )
    .post(
      "/:sessionId/abort",
      async ({ caller, project, params }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return abortSession(deps, project, params.sessionId);
      },
      { project: "write", ...answer(200, ok) },
    )
    .post(
      "/:sessionId/answer",
      ({ caller, project, params, body }) =>
        answerSession(deps, caller.userId, project, params.sessionId, body),
      // an agent must not allow itself anything
      { project: "user", body: answerBody, ...answer(200, ok) },
    )
    .get(
      "/:sessionId/logs",
      async ({ caller, project, params, query }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        const lines = Math.min(Number(query.tail ?? LOG_LINES.default), LOG_LINES.max);
        return readLogs(deps, project, params.sessionId, lines);
      },
      {
        project: "write",
        query: Type.Object({ tail: Type.Optional(Type.String({ pattern: "^[1-9][0-9]{0,5}$" })) }),
        ...answer(200, Type.Object({ lines: Type.Array(logLine), truncated: Type.Boolean() })),
      },
    )
    .get(
      "/:sessionId/ports",
      async ({ caller, project, params }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return listPorts(deps, project, params.sessionId);
      },
      { project: "write", ...answer(200, Type.Object({ ports: Type.Array(listeningPort) })) },
    )
    .get(
      "/:sessionId/events",
      async ({ caller, project, params, headers, again }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        const events = await streamEvents(deps, project, params.sessionId, headers["last-event-id"] ?? null);
        return new Response(whileAllowed(events, again), {
          headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
        });
      },
      { project: "write", ...answerEvents("The session, its prompts, and their changes", sessionEvent) },
    );
