import type { ChangeRequestTurns } from "../../contract/change-request-turns.ts";
import type { Deps } from "../../deps.ts";
import type { Page } from "../../http/page.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { requireReachTo } from "../sessions/agent-reach.ts";
import { readWritten } from "../sessions/conversation/written.ts";
import { findSession } from "../sessions/read.ts";
import { findChangeRequest } from "./row.ts";

/**
 * How a change request came about: the turns of its session. Whoever may read the session's conversation may read this.
 * @throws forbidden, not_found, validation_failed
 */
export async function readCrTurns(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  page: Page,
): Promise<ChangeRequestTurns> {
  const { originSessionId } = await findChangeRequest(deps.db, project, name);
  if (originSessionId === null) return { session_id: null, plan: null, turns: [] };
  await requireReachTo(deps, caller, project, originSessionId);
  const { session } = await findSession(deps, project, originSessionId);
  return { session_id: originSessionId, ...(await readWritten(deps.db, session, page)) };
}
