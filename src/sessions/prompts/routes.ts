import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { guard } from "../../auth/guard.ts";
import { createPromptBody, prompt } from "../../contract/prompt.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf } from "../../http/schema.ts";
import { acceptPrompt } from "./accept.ts";
import { getPrompt, listPrompts } from "./read.ts";
import { withdrawPrompt } from "./withdraw.ts";

/** Prompts from outside: of triggers, pages and programs (contract: Sessions, sandboxes, proxy). */
export const promptRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/sessions/:sessionId", tags: ["sessions"] })
    .use(guard(deps))
    .post(
      "/prompt",
      ({ caller, project, params, body, set }) => {
        set.status = 202;
        return acceptPrompt(deps, caller, project, params.sessionId, body);
      },
      { project: "write", body: createPromptBody, ...answer(202, Type.Object({ prompt })) },
    )
    .get(
      "/prompts",
      ({ project, params, query }) => listPrompts(deps, project, params.sessionId, readPage(query)),
      { project: "write", query: Type.Object(pageQuery), ...answer(200, listOf("prompts", prompt)) },
    )
    .get(
      "/prompts/:promptId",
      ({ project, params }) => getPrompt(deps, project, params.sessionId, params.promptId),
      { project: "write", ...answer(200, Type.Object({ prompt })) },
    )
    .delete(
      "/prompts/:promptId",
      ({ project, params }) => withdrawPrompt(deps, project, params.sessionId, params.promptId),
      { project: "write", ...answer(200, Type.Object({ prompt })) },
    );
