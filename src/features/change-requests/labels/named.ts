import { and, asc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { labels } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { nearest } from "../../../contract/nearest.ts";
import { shorten } from "../../../http/text.ts";

export type LabelRow = typeof labels.$inferSelect;

/** The name by which a label is found: names are unique without regard to case. */
export const keyOf = (name: string): string => name.trim().toLowerCase();

/**
 * The labels of a project with these names, by key.
 * @param lock whether to lock them until the transaction ends, so that none is deleted or renamed meanwhile
 * @throws validation_failed for a name that no label has, with the nearest one
 */
export async function labelsNamed(
  db: Db,
  projectId: string,
  names: readonly string[],
  lock: "lock" | "read",
): Promise<Map<string, LabelRow>> {
  const keys = [...new Set(names.map(keyOf))];
  if (keys.length === 0) return new Map();
  const query = db
    .select()
    .from(labels)
    .where(and(eq(labels.projectId, projectId), inArray(labels.key, keys.map(withoutNul))))
    .orderBy(asc(labels.labelId))
    .$dynamic();
  const rows = await (lock === "lock" ? query.for("key share") : query);
  const found = new Map(rows.map((row) => [row.key, row]));
  const unknown = names.find((name) => !found.has(keyOf(name)));
  if (unknown !== undefined) throw await unknownLabel(db, projectId, unknown);
  return found;
}

async function unknownLabel(db: Db, projectId: string, name: string): Promise<SvcError> {
  const rows = await db.select({ name: labels.name }).from(labels).where(eq(labels.projectId, projectId));
  const near = nearest(
    name,
    rows.map((row) => row.name),
  );
  const meant = near === undefined ? "" : ` Did you mean "${near}"?`;
  const message = `The project has no label "${shorten(name)}".${meant} List all with: svc labels ls`;
  return new SvcError("validation_failed", message, { details: [{ path: "labels", message }] });
}

/** Postgres holds no NUL, so no label has one. */
const withoutNul = (key: string): string => key.replaceAll("\0", "\ufffd");
