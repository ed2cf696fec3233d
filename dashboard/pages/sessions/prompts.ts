import type { Prompt, PromptState } from "../../../src/contract/prompt.ts";
import type { Session } from "../../../src/contract/session.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import type { BadgeLook } from "../../parts/badge.tsx";
import { promptsKey } from "./follow-session.ts";

/** Maximum number of prompts on a page. */
const PROMPTS = 100;

export const PROMPT_LOOKS: Readonly<Record<PromptState, BadgeLook>> = {
  queued: "info",
  running: "info",
  answered: "ok",
  failed: "danger",
  aborted: "neutral",
  interrupted: "warn",
};

export const promptsPath = ({ project_id, session_id }: Session): string =>
  path`/projects/${project_id}/sessions/${session_id}/prompts`;

/** The prompts of a session, the newest first, without those that were typed into `svc sessions chat`. */
export function usePrompts(session: Session) {
  return useGet<{ prompts: Prompt[] }>(
    promptsKey(session.project_id, session.session_id),
    `${promptsPath(session)}?limit=${PROMPTS}`,
  );
}
