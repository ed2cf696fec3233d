import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { createPromptBody, prompt } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import { pageQuery, readPage } from "../../../http/page.ts";
import { answer, listOf } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { requireReachTo } from "../agent-reach.ts";
import { acceptPrompt } from "./accept.ts";
import type { ReferencesIn } from "./attachments.ts";
import { getPrompt, listPrompts } from "./read.ts";
import { withdrawPrompt } from "./withdraw.ts";

/** The queue of prompts (contract: Sessions, sandboxes, proxy). */
export const promptRoutes = (deps: Deps, referencesIn: ReferencesIn) =>
  new Elysia({ prefix: "/projects/:projectId/sessions/:sessionId", tags: ["sessions"] })
    .use(guard(deps))
    .post(
      "/prompt",
      async ({ caller, project, params, body, set }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        set.status = 202;
        const references = await referencesIn(project, body.text);
        return acceptPrompt(deps, caller, project, params.sessionId, body, references);
      },
      { project: "write", body: createPromptBody, ...answer(202, Type.Object({ prompt })) },
    )
    .get(
      "/prompts",
      async ({ caller, project, params, query }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return listPrompts(deps, project, params.sessionId, readPage(query));
      },
      { project: "write", query: Type.Object(pageQuery), ...answer(200, listOf("prompts", prompt)) },
    )
    .get(
      "/prompts/:promptId",
      async ({ caller, project, params }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return getPrompt(deps, project, params.sessionId, params.promptId);
      },
      { project: "write", ...answer(200, Type.Object({ prompt })) },
    )
    .delete(
      "/prompts/:promptId",
      async ({ caller, project, params }) => {
        await requireReachTo(deps, caller, project, params.sessionId);
        return withdrawPrompt(deps, project, params.sessionId, params.promptId);
      },
      { project: "write", ...answer(200, Type.Object({ prompt })) },
    );
