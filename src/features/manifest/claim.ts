import { asc, eq, lte, sql } from "drizzle-orm";
import { projectManifests } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/** Longer than a poll: a listing and a fetch, which have their own limits. Then another server may claim it. */
const LEASE_MS = 5 * 60_000;

/** A poll that this server has claimed, what the last one found, and when the lease ends. */
export type Claim = Pick<
  typeof projectManifests.$inferSelect,
  "projectId" | "commit" | "reader" | "failures" | "look"
> & { until: Date };

/** Claims the most overdue poll, for this server only. Null: none is due. */
export async function claimPoll(deps: Deps): Promise<Claim | null> {
  const { projectId, commit, reader, failures, look, nextLookAt } = projectManifests;
  return await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    const [due] = await tx
      .select({ projectId })
      .from(projectManifests)
      .where(lte(nextLookAt, now))
      .orderBy(asc(nextLookAt))
      .limit(1)
      .for("update", { skipLocked: true });
    if (!due) return null;
    const [claim] = await tx
      .update(projectManifests)
      .set({ nextLookAt: new Date(now.getTime() + LEASE_MS), look: sql`${look} + 1` })
      .where(eq(projectId, due.projectId))
      .returning({ projectId, commit, reader, failures, look, until: nextLookAt });
    return claim ?? null;
  });
}
