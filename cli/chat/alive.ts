import type { Session } from "../../src/contract/session.ts";
import { type Api, path } from "../api.ts";
import { shortId, statusText } from "../commands/sessions/show-session.ts";
import { failureText } from "../commands/sessions/watch.ts";
import { CliError } from "../failure.ts";
import { oneLine } from "../text.ts";

/** @throws CliError `session_stopped`, `session_failed` when a session has no sandbox any more */
export async function checkAlive(api: Api, { project_id, session_id }: Session): Promise<void> {
  const now = await api.call<Session>({ path: path`/projects/${project_id}/sessions/${session_id}` });
  const { status } = now;
  if (status !== "stopped" && status !== "failed") return;
  const why = status === "failed" ? failureText(now) : `The session is ${oneLine(statusText(now))}.`;
  const id = shortId(now);
  const hint =
    status === "failed"
      ? `To retry: svc sessions restart ${id}`
      : `To restart it and continue: svc sessions chat ${id}`;
  throw new CliError(`session_${status}`, why, { session_id, hint });
}
