import { and, asc, eq, inArray, or } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type Act, recordTimeline } from "./record.ts";

/** A branch that a push deleted, and its last commit. */
interface Deleted {
  branch: string;
  commit: string;
}

/** Change requests that one push is recorded for. */
const RECORDED_MAX = 200;

/**
 * Records who deleted branches, for the change requests whose heads they were: open ones, and those that ended at the last
 * commit of the branch. An earlier one of a name that was used again is not meant. Locks their rows.
 */
export async function recordDeletions(
  tx: Db,
  { projectId }: ProjectRow,
  act: Act,
  deleted: readonly Deleted[],
): Promise<void> {
  if (deleted.length === 0) return;
  const { crId, number, headRef, headCommitSha, status } = changeRequests;
  const branches = deleted.map(({ branch }) => branch);
  const commits = deleted.map(({ commit }) => commit);
  const rows = await tx
    .select({ crId, headRef, headCommitSha, status })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, projectId),
        inArray(headRef, branches),
        or(eq(status, "open"), inArray(headCommitSha, commits)),
      ),
    )
    .orderBy(asc(number))
    .limit(RECORDED_MAX)
    .for("update");
  const events = rows.flatMap((row) => {
    const last = deleted.find(({ branch }) => branch === row.headRef)?.commit;
    const isMeant = row.status === "open" || row.headCommitSha === last;
    return isMeant ? [{ crId: row.crId, event: "head_ref_deleted", branch: row.headRef } as const] : [];
  });
  await recordTimeline(tx, act, events);
}
