import { asc, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { prepared } from "../../../../db/prepared.ts";
import { changeRequestLabels, labels } from "../../../../db/schema/index.ts";
import type { LabelRef } from "../../../contract/label.ts";

/** The labels of change requests, by name, by the ids of the change requests. */
export async function labelsOf(db: Db, crIds: readonly string[]): Promise<Map<string, LabelRef[]>> {
  if (crIds.length === 0) return new Map();
  const rows = await ofMany(db).execute({ crIds: JSON.stringify(crIds) });
  const found = new Map<string, LabelRef[]>();
  for (const { crId, name, color } of rows) found.set(crId, [...(found.get(crId) ?? []), { name, color }]);
  return found;
}

const ofMany = prepared((db) =>
  db
    .select({ crId: changeRequestLabels.crId, name: labels.name, color: labels.color })
    .from(changeRequestLabels)
    .innerJoin(labels, eq(labels.labelId, changeRequestLabels.labelId))
    .where(
      sql`${changeRequestLabels.crId} in (select value::uuid from json_array_elements_text(${sql.placeholder("crIds")}::json))`,
    )
    .orderBy(asc(labels.key))
    .prepare("labels_of_change_requests"),
);

/** A query for the ids of the change requests that have a label. */
export function idsOfLabel(labelId: string): SQL {
  return sql`select ${changeRequestLabels.crId} from ${changeRequestLabels}
    where ${changeRequestLabels.labelId} = ${labelId}`;
}
