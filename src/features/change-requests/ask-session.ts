import type { SentToSession } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { requireAgentReach } from "../sessions/agent-reach.ts";
import { createSession } from "../sessions/create.ts";
import { acceptPrompt } from "../sessions/prompts/accept.ts";
import { findSession } from "../sessions/read.ts";
import type { CrRow } from "./row.ts";

/**
 * Asks the agent that works on a change request's branch for something: the session that has made it, which is started
 * again if it has stopped. Where there is none any more, a new one begins at the head branch; it has a branch of its own
 * and cannot push that one, so that its prompt has to say what becomes of its work.
 * @param write the prompt; `isNew`: for a session that begins with it
 * @throws what `acceptPrompt` and `createSession` throw
 */
export async function askSession(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  row: CrRow,
  write: (isNew: boolean) => string,
): Promise<SentToSession> {
  const existing = await promptExisting(deps, caller, project, row, write);
  if (existing) return existing;
  const { session_id } = await createSession(deps, caller, project, {
    base_ref: row.headRef,
    initial_prompt: write(true),
    name: `#${row.number} ${row.title}`.slice(0, NAME_MAX).toWellFormed(),
  });
  // a session's first prompt is called as the session is
  return { session_id, prompt_id: session_id, created: true };
}

/** @throws not_open for what is merged or closed */
export function requireWork({ number, status }: CrRow): void {
  if (status === "open") return;
  throw new SvcError(
    "not_open",
    `Change request #${number} is ${status}: there is no more to do for an agent.`,
  );
}

async function promptExisting(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { originSessionId, headRef }: CrRow,
  write: (isNew: boolean) => string,
): Promise<SentToSession | null> {
  if (originSessionId === null) return null;
  try {
    const { session } = await findSession(deps, project, originSessionId);
    // one that works on another branch cannot change this one
    if (session.branchName !== headRef) return null;
    await requireAgentReach(deps, caller, project, session);
    const { prompt } = await acceptPrompt(deps, caller, project, session.sessionId, { text: write(false) });
    return { session_id: session.sessionId, prompt_id: prompt.prompt_id, created: false };
  } catch (error) {
    if (error instanceof SvcError && error.code === "not_found") return null;
    throw error;
  }
}
