import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { branchPushes } from "../../../db/schema/index.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { By } from "./record.ts";

/** A branch that was pushed, and its commit now. */
interface Pushed {
  branch: string;
  commit: string;
}

/** Records who pushed branches: a change request that finds its head at such a commit has the push by that person. */
export async function recordPushes(
  tx: Db,
  { projectId }: ProjectRow,
  { userId, actor }: By,
  pushed: readonly Pushed[],
): Promise<void> {
  if (userId === null || pushed.length === 0) return;
  await tx
    .insert(branchPushes)
    .values(pushed.map(({ branch, commit }) => ({ projectId, branch, commitSha: commit, userId, actor })))
    .onConflictDoUpdate({
      target: [branchPushes.projectId, branchPushes.branch],
      set: {
        commitSha: sql`excluded.commit_sha`,
        userId: sql`excluded.user_id`,
        actor: sql`excluded.actor`,
      },
    });
}
