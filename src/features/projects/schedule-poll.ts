import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectManifests } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/**
 * Schedules a poll of a project's branches and of the manifest on its default branch (`manifest/follow.ts`). Call it in
 * the transaction that makes the change, before that announces its events.
 */
export async function schedulePoll(
  deps: Pick<Deps, "databaseTime">,
  tx: Db,
  projectId: string,
): Promise<void> {
  const next = sql`least(${projectManifests.nextLookAt}, excluded.next_look_at)`;
  await tx
    .insert(projectManifests)
    .values({ projectId, nextLookAt: await deps.databaseTime(tx) })
    .onConflictDoUpdate({ target: projectManifests.projectId, set: { nextLookAt: next } });
}
