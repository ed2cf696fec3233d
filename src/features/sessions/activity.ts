import { and, inArray, lt, sql } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/** Notes in memory that a session's sandbox is in use: cheap enough for every request. */
export function noteActivity({ activity, clock }: Pick<Deps, "activity" | "clock">, sessionId: string): void {
  activity.set(sessionId, clock().getTime());
}

/** Writes the activity that was noted since the last call to the database. */
export async function writeActivity({ db, activity }: Pick<Deps, "db" | "activity">): Promise<void> {
  const noted = [...activity];
  activity.clear();
  if (noted.length === 0) return;
  const newest = new Date(Math.max(...noted.map(([, at]) => at)));
  const ids = noted.map(([id]) => id);
  await db
    .update(projectSessions)
    .set({ lastActiveAt: newest })
    .where(
      and(
        inArray(projectSessions.sessionId, ids),
        lt(projectSessions.lastActiveAt, sql`${newest.toISOString()}::timestamptz`),
      ),
    );
}
