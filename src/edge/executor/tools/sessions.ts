import { Type } from "@sinclair/typebox";
import { createSessionBody, initialPrompt, type Session, sessionStatus } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { referencesIn } from "../../../features/change-requests/brief.ts";
import { pageUrl } from "../../../features/projects/page-url.ts";
import { createSession } from "../../../features/sessions/create.ts";
import { listPrompts } from "../../../features/sessions/prompts/read.ts";
import { getSession, listSessions } from "../../../features/sessions/read.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { projectTool, type Tool } from "../tool.ts";
import { shownPrompt } from "./prompts.ts";
import { authorText, pageFields, pageOf, uuidField } from "./shown.ts";

/** Prompts that are returned with a session. */
const PROMPTS_SHOWN = 10;

const { name, base_ref, agent_name, model, mode, effort, runtime } = createSessionBody.properties;

export const sessionTools: Tool[] = [
  projectTool({
    name: "list_sessions",
    title: "List sessions",
    description:
      "Lists the sessions of the project, the last updated first. A session is an agent in a sandbox; the id of a session is also the name of its branch.",
    isRead: true,
    callers: "all",
    fields: { status: Type.Optional(sessionStatus), ...pageFields },
    async run(deps, { project }, { status, ...rest }) {
      const { sessions, ...next } = await listSessions(deps, project, { ...pageOf(rest), status });
      return { sessions: sessions.map((session) => shown(deps, project, session)), ...next };
    },
  }),
  projectTool({
    name: "show_session",
    title: "Show a session",
    description:
      "Shows a session and its last prompts with their states. When a prompt is answered, look for a change request of the session with list_change_requests.",
    isRead: true,
    callers: "user",
    fields: { session_id: uuidField("The session") },
    async run(deps, { project }, { session_id }) {
      const session = await getSession(deps, project, session_id);
      const { prompts } = await listPrompts(deps, project, session_id, pageOf({ limit: PROMPTS_SHOWN }));
      return { ...shown(deps, project, session), prompts: prompts.map(shownPrompt) };
    },
  }),
  projectTool({
    name: "start_session",
    title: "Start a session",
    description:
      "Starts a session: an agent in a sandbox, on a new branch, that works on the prompt and opens a change request. Write the prompt so that it is complete by itself: the agent knows the repository, but not this conversation. It takes a minute to start; wait for the answer with wait_for_prompt, whose prompt_id is the session_id.",
    isRead: false,
    callers: "user",
    fields: {
      prompt: initialPrompt,
      name,
      base_ref,
      agent_name,
      model,
      mode,
      effort,
      runtime,
    },
    async run(deps, { caller, project }, { prompt, ...rest }) {
      const references = await referencesIn(deps, project, prompt);
      const body = { ...rest, initial_prompt: prompt };
      return shown(deps, project, await createSession(deps, caller, project, body, references));
    },
  }),
];

function shown(deps: Deps, project: ProjectRow, session: Session): Record<string, unknown> {
  return {
    session_id: session.session_id,
    name: session.name,
    title: session.title,
    status: session.status,
    step: session.step,
    error: session.error,
    stop_reason: session.stop_reason,
    branch_name: session.branch_name,
    base_ref: session.base_ref,
    agent_name: session.agent_name,
    model: session.model,
    mode: session.mode,
    effort: session.effort,
    runtime: session.runtime,
    author: authorText(session.author),
    created_at: session.created_at,
    updated_at: session.updated_at,
    url: pageUrl(deps, project, `sessions/${session.session_id}`),
  };
}
