import type { Session } from "../../src/contract/session.ts";
import { shortId, statusText } from "../commands/sessions/show-session.ts";
import { failureText } from "../commands/sessions/watch.ts";
import { CliError } from "../failure.ts";
import { oneLine } from "../text.ts";

/**
 * A chat goes on while an answer starts the session again, and while svc itself restarts.
 * @throws CliError `session_stopped`, `session_failed` when a session has no sandbox any more
 */
export function requireOpen(session: Session): void {
  const { session_id, status, stop_reason, waiting_for } = session;
  if ((status !== "stopped" && status !== "failed") || waiting_for !== null || stop_reason === "server")
    return;
  const why = status === "failed" ? failureText(session) : `The session is ${oneLine(statusText(session))}.`;
  const id = shortId(session);
  const hint =
    status === "failed"
      ? `To retry: svc sessions restart ${id}`
      : `To restart it and continue: svc sessions chat ${id}`;
  throw new CliError(`session_${status}`, why, { session_id, hint });
}

export function deletedError({ session_id }: Session): CliError {
  return new CliError("session_deleted", `The session ${shortId({ session_id })} was deleted.`, {
    session_id,
  });
}
