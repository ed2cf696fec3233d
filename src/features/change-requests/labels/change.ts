import { and, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequestLabels } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { LabelRef } from "../../../contract/label.ts";
import { CR_LABELS_MAX } from "../../../contract/limits.ts";
import type { Caller } from "../../../identity/auth/caller.ts";
import { byOf, recordTimeline } from "../../timeline/record.ts";
import { keyOf, labelsNamed } from "./named.ts";
import { labelsOf } from "./of.ts";

/** Names of labels. */
interface Change {
  /** All that it is to have. */
  labels?: readonly string[];
  add_labels?: readonly string[];
  remove_labels?: readonly string[];
}

/**
 * Changes the labels of a change request, in a transaction that has locked its row, and before its events are recorded.
 * @throws validation_failed for a name that no label has, or too many labels
 */
export async function changeLabels(
  tx: Db,
  caller: Caller,
  { projectId, crId }: { projectId: string; crId: string },
  at: Date,
  { labels: all, add_labels: added = [], remove_labels: removed = [] }: Change,
): Promise<void> {
  const wanted = [...(all ?? []), ...added];
  if (all === undefined && wanted.length === 0 && removed.length === 0) return;
  const before = (await labelsOf(tx, [crId])).get(crId) ?? [];
  const named = await labelsNamed(tx, projectId, [...wanted, ...removed], "lock");
  const idsOf = (names: readonly string[]) => [
    ...new Set(names.flatMap((name) => named.get(keyOf(name))?.labelId ?? [])),
  ];
  const { crId: of, labelId } = changeRequestLabels;
  if (all !== undefined) await tx.delete(changeRequestLabels).where(eq(of, crId));
  if (wanted.length > 0)
    await tx
      .insert(changeRequestLabels)
      .values(idsOf(wanted).map((id) => ({ crId, labelId: id })))
      .onConflictDoNothing();
  if (removed.length > 0)
    await tx.delete(changeRequestLabels).where(and(eq(of, crId), inArray(labelId, idsOf(removed))));
  if (wanted.length > 0 && (await tx.$count(changeRequestLabels, eq(of, crId))) > CR_LABELS_MAX)
    throw new SvcError(
      "validation_failed",
      `A change request can have ${CR_LABELS_MAX} labels. Remove some with: svc cr edit --remove-label`,
    );
  const after = (await labelsOf(tx, [crId])).get(crId) ?? [];
  const missingIn = (labels: readonly LabelRef[]) => (label: LabelRef) =>
    labels.every(({ name }) => name !== label.name);
  await recordTimeline(tx, { by: byOf(caller), at }, [
    ...before.filter(missingIn(after)).map((label) => ({ crId, event: "unlabeled" as const, label })),
    ...after.filter(missingIn(before)).map((label) => ({ crId, event: "labeled" as const, label })),
  ]);
}
