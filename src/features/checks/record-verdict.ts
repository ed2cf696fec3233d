import { and, desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequestEvents, projects } from "../../../db/schema/index.ts";
import { NOBODY, recordTimeline } from "../timeline/record.ts";
import { reportedOf } from "./statuses.ts";
import { summaryOf } from "./summary.ts";

/**
 * Records in the timelines of change requests that the checks of their head have passed or failed: once all that were
 * reported or are required have ended, and again only when that changes.
 * @param tx has the project locked
 */
export async function recordVerdict(
  tx: Db,
  open: readonly { crId: string }[],
  { projectId, sha }: { projectId: string; sha: string },
  at: Date,
): Promise<void> {
  if (open.length === 0) return;
  const state = await verdictOf(tx, projectId, sha);
  if (state === null) return;
  const { crId, event, eventId, data } = changeRequestEvents;
  const last = await tx
    .selectDistinctOn([crId], { crId, data })
    .from(changeRequestEvents)
    .where(
      and(
        eq(event, "checks_completed"),
        inArray(
          crId,
          open.map((cr) => cr.crId),
        ),
      ),
    )
    .orderBy(crId, desc(eventId));
  const isRecorded = (id: string) =>
    last.some((each) => each.crId === id && each.data.commit_sha === sha && each.data.state === state);
  await recordTimeline(
    tx,
    { by: NOBODY, at },
    open
      .filter((cr) => !isRecorded(cr.crId))
      .map((cr) => ({ crId: cr.crId, event: "checks_completed", state, commit_sha: sha })),
  );
}

/** Null while a check has not ended. */
async function verdictOf(tx: Db, projectId: string, sha: string): Promise<"success" | "failure" | null> {
  const [rule] = await tx
    .select({ requiredChecks: projects.requiredChecks })
    .from(projects)
    .where(eq(projects.projectId, projectId));
  if (!rule) return null;
  const { state, pending, required } = summaryOf(await reportedOf(tx, projectId, [sha]), rule);
  if (pending > 0 || required.some((check) => check.state === null)) return null;
  return state === "success" || state === "failure" ? state : null;
}
