import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { guard } from "../auth/guard.ts";
import { mintedProjectToken, mintProjectTokenBody, projectToken } from "../contract/account.ts";
import {
  createProjectBody,
  editProjectBody,
  gitCredentialBody,
  project as projectSchema,
} from "../contract/project.ts";
import type { Deps } from "../deps.ts";
import { pageQuery, readPage } from "../http/page.ts";
import { listOf, ok, uuidParam } from "../http/schema.ts";
import { createProject } from "./create.ts";
import { deleteProject } from "./delete.ts";
import { editProject, storeGitCredential } from "./edit.ts";
import { listProjects } from "./list.ts";
import { listProjectTokens, mintProjectToken, revokeProjectToken } from "./tokens.ts";
import { toWire } from "./wire.ts";

export const projectRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects", tags: ["projects"] })
    .use(guard(deps))
    .get("", ({ caller, query }) => listProjects(deps, caller, readPage(query), query.account_id), {
      caller: true,
      query: Type.Object({ ...pageQuery, account_id: Type.Optional(uuidParam) }),
      response: { 200: listOf("projects", projectSchema) },
    })
    .post(
      "",
      ({ caller, body, set }) => {
        set.status = 201;
        return createProject(deps, caller, body);
      },
      { user: true, body: createProjectBody, response: { 201: projectSchema } },
    )
    .get("/:projectId", ({ project }) => toWire(project), {
      project: "write",
      response: { 200: projectSchema },
    })
    .patch("/:projectId", ({ project, body }) => editProject(deps, project, body), {
      project: "user",
      body: editProjectBody,
      response: { 200: projectSchema },
    })
    .delete("/:projectId", ({ project }) => deleteProject(deps, project), {
      project: "manage",
      response: { 200: ok },
    })
    .put("/:projectId/git-credential", ({ project, body }) => storeGitCredential(deps, project, body), {
      project: "user",
      body: gitCredentialBody,
      response: { 200: ok },
    })
    .get("/:projectId/cli-token", ({ project, query }) => listProjectTokens(deps, project, readPage(query)), {
      project: "user",
      query: Type.Object(pageQuery),
      response: { 200: listOf("tokens", projectToken) },
    })
    .post(
      "/:projectId/cli-token",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return mintProjectToken(deps, caller, project, body ?? {});
      },
      { project: "user", body: mintProjectTokenBody, response: { 201: mintedProjectToken } },
    )
    .delete(
      "/:projectId/cli-token/:tokenId",
      ({ project, params }) => revokeProjectToken(deps, project, params.tokenId),
      {
        project: "user",
        params: Type.Object({ projectId: Type.String(), tokenId: uuidParam }),
        response: { 200: ok },
      },
    );
