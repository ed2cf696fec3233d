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
 * Prompts the session that works on the branch of a change request. A stopped session is restarted. If it no longer
 * exists, a new session starts at the head branch. A new session has its own branch and cannot push to the head
 * branch, so its prompt must say what to do with the work.
 * @param write writes the prompt; `isNew`: for a new session
 * @throws what `acceptPrompt` and `createSession` throw
 */
export async function promptSession(
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
  // the first prompt of a session has the id of the session
  return { session_id, prompt_id: session_id, created: true };
}

/** @throws not_open for a merged or closed change request */
export function requireUnmerged({ number, status }: CrRow): void {
  if (status === "open") return;
  throw new SvcError("not_open", `Change request #${number} is ${status}, so an agent cannot work on it.`);
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
    // a session on another branch cannot push to this one
    if (session.branchName !== headRef) return null;
    await requireAgentReach(deps, caller, project, session);
    const { prompt } = await acceptPrompt(deps, caller, project, session.sessionId, { text: write(false) });
    return { session_id: session.sessionId, prompt_id: prompt.prompt_id, created: false };
  } catch (error) {
    if (error instanceof SvcError && error.code === "not_found") return null;
    throw error;
  }
}
