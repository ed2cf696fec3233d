import { asc, eq, lte, sql } from "drizzle-orm";
import { projectManifests } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/** A look takes a listing and a fetch, which have limits of their own. The looks of a server that died are due again. */
const LOOK_MS = 5 * 60_000;

/** A look that this server is to make, what the last one found, and until when nobody else makes it. */
export type Claim = Pick<
  typeof projectManifests.$inferSelect,
  "projectId" | "commit" | "reader" | "failures" | "look"
> & { until: Date };

/** Takes the look that has been due for longest; no two servers take the same. Null: none is due. */
export async function claimLook(deps: Deps): Promise<Claim | null> {
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
      .set({ nextLookAt: new Date(now.getTime() + LOOK_MS), look: sql`${look} + 1` })
      .where(eq(projectId, due.projectId))
      .returning({ projectId, commit, reader, failures, look, until: nextLookAt });
    return claim ?? null;
  });
}
