import type { Db } from "../../../../db/client.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { notify } from "../../notifications/record.ts";
import type { Presenting } from "../present.ts";
import type { CrRow } from "../row.ts";
import { recordCrEvent } from "../webhook.ts";
import type { Person } from "./named.ts";

/**
 * Records that people were asked for a review, and notifies them, in the transaction of that and before `publish`. Who asks
 * themselves is not notified.
 * @param caller null: svc asks, for the CODEOWNERS file
 * @param row as it is after the change
 */
export async function recordRequests(
  deps: Presenting,
  tx: Db,
  caller: Pick<Caller, "kind" | "userId"> | null,
  project: ProjectRow,
  { row, at, asked }: { row: Omit<CrRow, "hasIntents">; at: Date; asked: readonly Person[] },
): Promise<void> {
  if (asked.length === 0) return;
  const { crId, number, title } = row;
  await recordCrEvent(deps, tx, project, { type: "cr.review_requested", at }, row, {
    reviewers: asked.map(({ userId, name }) => ({ user_id: userId, name })),
  });
  const people = asked.filter(({ userId }) => caller?.kind !== "user" || userId !== caller.userId);
  await notify(
    tx,
    {
      ...{ event: "cr.review_requested", projectId: project.projectId, key: `${crId} ${at.toISOString()}` },
      ...{ of: { crNumber: number }, title: `#${number} ${title}`, text: "" },
    },
    people.map(({ userId }) => userId),
  );
}
