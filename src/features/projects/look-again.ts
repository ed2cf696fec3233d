import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectManifests } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/**
 * Asks for a look at the manifest on a project's default branch, which may be another one now: in the transaction that
 * says why, and before it publishes. Whichever server is first looks (`manifest/follow.ts`).
 */
export async function lookAgain(deps: Pick<Deps, "databaseTime">, tx: Db, projectId: string): Promise<void> {
  const next = sql`least(${projectManifests.nextLookAt}, excluded.next_look_at)`;
  await tx
    .insert(projectManifests)
    .values({ projectId, nextLookAt: await deps.databaseTime(tx) })
    .onConflictDoUpdate({ target: projectManifests.projectId, set: { nextLookAt: next } });
}
