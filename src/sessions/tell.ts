import type { Db } from "../../db/client.ts";
import type { ProjectEvent } from "../contract/event.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../events/announce.ts";
import { APPS_QUEUE } from "../jobs/places.ts";
import type { SessionRow } from "./wire.ts";

/**
 * Says that a session is other than it was, in the transaction that changes it, which it has to end: an agent's to
 * everybody who follows the project, a deployment's to whoever looks after its app.
 */
export async function tell(
  deps: Pick<Deps, "jobs">,
  tx: Db,
  { sessionId, projectId, purpose }: Pick<SessionRow, "sessionId" | "projectId" | "purpose">,
  action: ProjectEvent["action"],
): Promise<void> {
  if (purpose === "app") await deps.jobs.enqueue(tx, APPS_QUEUE, sessionId);
  else await announce(tx, projectId, { type: "session", id: sessionId, action });
}
