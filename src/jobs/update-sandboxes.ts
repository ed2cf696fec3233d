import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { runs } from "../../db/schema/index.ts";
import { queueOf } from "./places.ts";
import type { Jobs } from "./queue.ts";

/** Enqueues an update of the secrets in the running sandboxes of projects. */
export async function updateSandboxes(
  { jobs }: { jobs: Jobs },
  tx: Db,
  projectIds: readonly string[],
): Promise<void> {
  const found = await tx
    .selectDistinct({ place: runs.place, projectId: runs.projectId })
    .from(runs)
    .where(and(inArray(runs.projectId, [...projectIds]), eq(runs.status, "running")));
  for (const { place, projectId } of found) await jobs.enqueue(tx, queueOf("secrets", place), projectId);
}
