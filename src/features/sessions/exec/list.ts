import { desc, eq, getTableColumns } from "drizzle-orm";
import { sessionExecs, users } from "../../../../db/schema/index.ts";
import type { Exec } from "../../../contract/exec.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findSession } from "../read.ts";
import { toExec } from "./wire.ts";

const LISTED_MAX = 200;

/** The commands that people have run in a session's sandboxes, the newest first. @throws not_found */
export async function listExecs(
  deps: Pick<Deps, "db">,
  project: ProjectRow,
  name: string,
): Promise<{ commands: Exec[] }> {
  const { session } = await findSession(deps, project, name);
  const rows = await deps.db
    .select({ ...getTableColumns(sessionExecs), userName: users.name })
    .from(sessionExecs)
    .innerJoin(users, eq(users.userId, sessionExecs.userId))
    .where(eq(sessionExecs.sessionId, session.sessionId))
    .orderBy(desc(sessionExecs.createdAt), desc(sessionExecs.execId))
    .limit(LISTED_MAX);
  return { commands: rows.map(toExec) };
}
