import { SvcError } from "../../contract/errors.ts";
import { isAlive } from "../../contract/session.ts";
import type { Tries } from "../../contract/tries.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { openChangeRequest } from "../change-requests/open.ts";
import { stop } from "../sessions/stop.ts";
import { findTries, readTries } from "./read.ts";

/**
 * Chooses one of several tries: opens its change request, unless it has one, and stops the other sessions, whose work
 * stays on their branches. It can be repeated.
 * @throws nothing_to_merge, not_found, and what `openChangeRequest` throws
 */
export async function chooseTry(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  sessionId: string,
): Promise<Tries> {
  const { tries } = await readTries(deps, project, name);
  const chosen = tries.find(({ session }) => session.session_id === sessionId.toLowerCase());
  if (!chosen)
    throw new SvcError("not_found", `Session ${sessionId} is none of these tries. Choose one of them.`);
  const { session, change, change_request: request } = chosen;
  if (request === null || request.status === "closed") {
    if (!change || change.files_changed === 0)
      throw new SvcError(
        "nothing_to_merge",
        `The session ${session.session_id} has pushed no change yet. Wait for it, or choose another.`,
      );
    await openChangeRequest(deps, caller, project, {
      title: session.title ?? `Session ${session.session_id}`,
      head_ref: session.branch_name,
      base_ref: session.base_ref,
      session_id: session.session_id,
    });
  }
  for (const { session: other } of await findTries(deps, project, name))
    if (other.sessionId !== session.session_id && isAlive(other)) await stop(deps, other, "user", caller);
  return await readTries(deps, project, name);
}
