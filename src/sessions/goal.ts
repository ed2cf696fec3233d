import { and, eq, ne } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import { goneSince } from "../jobs/gone.ts";
import { queueOf } from "../jobs/places.ts";
import { settleGone } from "./take-over.ts";
import { tell } from "./tell.ts";
import type { SessionRow } from "./wire.ts";

/** What a session is to be, and what follows from it at once. */
type Change = Partial<
  Pick<
    SessionRow,
    "goal" | "status" | "place" | "restores" | "generation" | "step" | "error" | "stopReason" | "lastActiveAt"
  >
>;

/**
 * Changes what a session is to be, and asks for it to be done: both or neither. Where its status goes from there is the
 * job's to say (`converge`); where the server is gone that would do it, it is done here. A session that is to be deleted
 * stays so. It tells of the change, so that it has to be what a transaction does last.
 * @returns the row as it is now; null when it is to be deleted, or gone
 */
export async function aim(deps: Deps, tx: Db, sessionId: string, change: Change): Promise<SessionRow | null> {
  const [row] = await tx
    .update(projectSessions)
    .set({ ...change, updatedAt: deps.clock() })
    .where(and(eq(projectSessions.sessionId, sessionId), ne(projectSessions.goal, "deleted")))
    .returning();
  if (!row) return null;
  const since = await goneSince(deps, tx, row.place);
  if (since) return await settleGone(deps, tx, row, since);
  await ask(deps, tx, row);
  await tell(deps, tx, row, "changed");
  return row;
}

/** Asks for a session to be made what it is to be. Whoever waits for a change of it is told when that is committed. */
export async function ask(deps: Deps, tx: Db, { place, sessionId }: SessionRow): Promise<void> {
  await deps.jobs.enqueue(tx, queueOf("sessions", place), sessionId);
}
