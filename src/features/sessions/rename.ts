import { and, eq } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Session } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { storable } from "../../http/text.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { getSession, readSessionId } from "./read.ts";

/** Renames a session. @throws not_found, validation_failed */
export async function renameSession(
  deps: Deps,
  project: ProjectRow,
  sessionId: string,
  name: string,
): Promise<Session> {
  const id = readSessionId(sessionId);
  const { projectId } = project;
  const stored = storable("name", name, NAME_MAX * 4);
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projectSessions)
      .set({ name: stored, updatedAt: deps.clock() })
      .where(and(eq(projectSessions.sessionId, id), eq(projectSessions.projectId, projectId)))
      .returning({ id: projectSessions.sessionId });
    if (row) await publish(tx, projectId, { type: "session", id, action: "changed" });
  });
  deps.changes.notify(id);
  return await getSession(deps, project, id);
}
