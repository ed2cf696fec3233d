import { Type } from "@sinclair/typebox";
import { createPromptBody, type Prompt } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import { referencesIn } from "../../../features/change-requests/brief.ts";
import { requireReachTo } from "../../../features/sessions/agent-reach.ts";
import { acceptPrompt } from "../../../features/sessions/prompts/accept.ts";
import { getPrompt } from "../../../features/sessions/prompts/read.ts";
import { type ProjectRequest, projectTool, type Tool } from "../tool.ts";
import { authorText, cut, uuidField } from "./shown.ts";

/** Characters of a prompt's text in a result: its author knows it. */
const TEXT_MAX = 500;
/** The longest wait in seconds: clients end a call after a minute (the SDK's default). */
const WAIT_MAX_S = 50;
/** How often a waiting call reads the prompt: a notification of a change can be lost. */
const POLL_MS = 5_000;

const session_id = uuidField("The session");

export const promptTools: Tool[] = [
  projectTool({
    name: "send_prompt",
    title: "Send a prompt to a session",
    description:
      "Sends a prompt to the agent of a session, after those that it is still working on. A stopped session is started again. Wait for the answer with wait_for_prompt.",
    isRead: false,
    callers: "user",
    fields: { session_id, text: createPromptBody.properties.text },
    async run(deps, { caller, project }, args) {
      await requireReachTo(deps, caller, project, args.session_id);
      const { text } = args;
      const references = await referencesIn(deps, project, text);
      const { prompt } = await acceptPrompt(deps, caller, project, args.session_id, { text }, references);
      return shownPrompt(prompt);
    },
  }),
  projectTool({
    name: "wait_for_prompt",
    title: "Wait until a prompt is answered",
    description: `Returns the state of a prompt: queued or running, then answered, failed, aborted or interrupted. Waits up to ${WAIT_MAX_S} seconds for the end; call it again while it is queued or running. The answer itself is in the session's conversation, the work on its branch.`,
    isRead: true,
    callers: "user",
    fields: {
      session_id,
      prompt_id: uuidField("The prompt; that of start_session has the id of the session"),
      wait_seconds: Type.Optional(
        Type.Integer({ minimum: 0, maximum: WAIT_MAX_S, description: `${WAIT_MAX_S} if omitted` }),
      ),
    },
    async run(deps, request, { wait_seconds = WAIT_MAX_S, ...named }) {
      await requireReachTo(deps, request.caller, request.project, named.session_id);
      return shownPrompt(await waitForEnd(deps, request, named, wait_seconds * 1000));
    },
  }),
];

async function waitForEnd(
  deps: Deps,
  { project, signal }: ProjectRequest,
  named: { session_id: string; prompt_id: string },
  ms: number,
): Promise<Prompt> {
  const deadline = performance.now() + ms;
  for (;;) {
    const { prompt } = await getPrompt(deps, project, named.session_id, named.prompt_id);
    const left = deadline - performance.now();
    if (prompt.ended_at !== null || left <= 0 || signal.aborted) return prompt;
    await deps.changes.wait(named.session_id.toLowerCase(), Math.min(left, POLL_MS), signal);
  }
}

export function shownPrompt({ text, author, ...prompt }: Prompt): Record<string, unknown> {
  const { prompt_id, session_id, state, error, created_at, started_at, ended_at } = prompt;
  return {
    prompt_id,
    session_id,
    state,
    error,
    text: cut(text, TEXT_MAX),
    author: authorText(author),
    created_at,
    started_at,
    ended_at,
  };
}
