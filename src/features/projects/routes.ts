import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { mintedProjectToken, mintProjectTokenBody, projectToken } from "../../contract/account.ts";
import { agent } from "../../contract/agent.ts";
import { projectEvent } from "../../contract/event.ts";
import { RECENT_MAX_S } from "../../contract/limits.ts";
import {
  createProjectBody,
  editedProject,
  editProjectBody,
  gitCredentialBody,
  project as projectSchema,
} from "../../contract/project.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, answerEvents, listOf, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { listAgents } from "./agents.ts";
import { createProject } from "./create.ts";
import { deleteProject } from "./delete.ts";
import { editProject, storeGitCredential, unprotectBranch } from "./edit.ts";
import { streamProjectEvents } from "./events.ts";
import { listProjects } from "./list.ts";
import { listProjectTokens, mintProjectToken, revokeProjectToken } from "./tokens.ts";
import { toWire } from "./wire.ts";

export const projectRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects", tags: ["projects"] })
    .use(guard(deps))
    .get("", ({ caller, query }) => listProjects(deps, caller, readPage(query), query.account_id), {
      caller: "read",
      query: Type.Object({ ...pageQuery, account_id: Type.Optional(uuidParam) }),
      ...answer(200, listOf("projects", projectSchema)),
    })
    .post(
      "",
      ({ caller, body, set }) => {
        set.status = 201;
        return createProject(deps, caller, body);
      },
      { user: true, body: createProjectBody, ...answer(201, projectSchema) },
    )
    .get("/:projectId", ({ project }) => toWire(deps, project), {
      project: "write",
      ...answer(200, projectSchema),
    })
    .patch(
      "/:projectId",
      ({ caller, project, role, body }) => editProject(deps, caller, project, role, body),
      {
        project: "user",
        body: editProjectBody,
        ...answer(200, editedProject),
      },
    )
    .delete(
      "/:projectId/protected/*",
      ({ caller, project, params }) => unprotectBranch(deps, caller, project, params["*"]),
      {
        project: "manage",
        ...answer(200, projectSchema),
      },
    )
    .delete("/:projectId", ({ caller, project }) => deleteProject(deps, caller, project), {
      project: "manage",
      ...answer(200, ok),
    })
    .get(
      "/:projectId/events",
      ({ project, again, query, headers }) => {
        const from = {
          lastEventId: headers["last-event-id"] ?? query.after,
          recent: readRecent(query.recent),
        };
        return new Response(streamProjectEvents(deps, project, from, again), {
          headers: { "Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-store" },
        });
      },
      {
        project: "write",
        query: Type.Object({
          after: Type.Optional(Type.String({ pattern: "^[0-9]{1,15}$" })),
          recent: Type.Optional(
            Type.String({
              pattern: "^[1-9][0-9]{0,2}$",
              description: `Without Last-Event-ID: start with the events of the last n seconds, at most ${RECENT_MAX_S}`,
            }),
          ),
        }),
        ...answerEvents("Hints that something has changed", projectEvent),
      },
    )
    .get("/:projectId/agents", ({ project }) => listAgents(deps, project), {
      project: "write",
      ...answer(200, Type.Object({ agents: Type.Array(agent) })),
    })
    .put(
      "/:projectId/git-credential",
      ({ caller, project, body }) => storeGitCredential(deps, caller, project, body),
      {
        project: "manage",
        body: gitCredentialBody,
        ...answer(200, ok),
      },
    );

/** Project tokens: `/projects/:projectId/cli-token`. */
export const projectTokenRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects", tags: ["projects"] })
    .use(guard(deps))
    .get("/:projectId/cli-token", ({ project, query }) => listProjectTokens(deps, project, readPage(query)), {
      project: "user",
      query: Type.Object(pageQuery),
      ...answer(200, listOf("tokens", projectToken)),
    })
    .post(
      "/:projectId/cli-token",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return mintProjectToken(deps, caller, project, body ?? {});
      },
      { project: "user", body: mintProjectTokenBody, ...answer(201, mintedProjectToken) },
    )
    .delete(
      "/:projectId/cli-token/:tokenId",
      ({ caller, project, params }) => revokeProjectToken(deps, caller, project, params.tokenId),
      {
        project: "user",
        params: Type.Object({ projectId: Type.String(), tokenId: uuidParam }),
        ...answer(200, ok),
      },
    );

function readRecent(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Math.min(Number(text), RECENT_MAX_S);
}
