import { asc, eq, gt, isNotNull, isNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { auditEvents, auditHead } from "../../../db/schema/index.ts";
import type { Keys } from "../../keys.ts";
import { type AuditRow, type Link, linkAfter, NO_HASH } from "./chain.ts";

/** A position in the chain, and the hash there. */
type Place = Pick<Link, "position" | "hash">;

/** Entries in memory at a time. */
const BATCH = 1_000;

/** What a check of the chain has found. */
export interface AuditCheck {
  /** Entries whose hashes are right. */
  sealed: number;
  /** Entries that have no position yet. */
  unsealed: number;
  /** Where the chain begins, and since when: later than at position 1 once old entries were deleted. */
  first: { position: number; createdAt: Date } | null;
  /** The end of the chain. */
  head: Place;
  /** What is wrong first, as the rest of a sentence; null: nothing. */
  fault: string | null;
}

/**
 * Checks the chain of hashes from its beginning, which is later than position 1 once old entries were deleted, also
 * during the check. An entry that was changed, added or removed does not match the one after it.
 */
export async function verifyAudit(
  { db, keys }: { db: Db; keys: Pick<Keys, "mac"> },
  batch = BATCH,
): Promise<AuditCheck> {
  // read first: entries that are sealed meanwhile come after it
  const head = await headOf(db);
  let sealed = 0;
  let first: AuditCheck["first"] = null;
  let end: Place | null = null;
  const answer = async (fault: string | null): Promise<AuditCheck> => ({
    sealed,
    unsealed: await db.$count(auditEvents, isNull(auditEvents.position)),
    first,
    head,
    fault,
  });
  for (;;) {
    const rows: AuditRow[] = await db
      .select()
      .from(auditEvents)
      .where(gt(auditEvents.position, end?.position ?? 0))
      .orderBy(asc(auditEvents.position))
      .limit(batch);
    for (const row of rows) {
      const isNext = end !== null && row.position === end.position + 1;
      const before: Place = end === null || (!isNext && (await isFirst(db, row))) ? beginningOf(row) : end;
      const fault = faultOf(keys, before, row);
      if (fault !== null) return await answer(fault);
      end = { position: before.position + 1, hash: row.hash ?? NO_HASH };
      first ??= { position: end.position, createdAt: row.createdAt };
      sealed++;
      if (end.position === head.position && end.hash !== head.hash)
        return await answer(`the end of the chain, at position ${head.position}, has another hash`);
    }
    if (rows.length < batch) break;
  }
  if (end !== null && end.position < head.position)
    return await answer(
      `the entries after position ${end.position} are missing: the chain ends at position ${head.position}`,
    );
  if (end !== null && end.position > (await headOf(db)).position)
    return await answer(`the chain continues to position ${end.position}, beyond its recorded end`);
  return await answer(null);
}

async function headOf(db: Db): Promise<Place> {
  const { position, hash } = auditHead;
  const [head] = await db.select({ position, hash }).from(auditHead).where(eq(auditHead.id, 1));
  return head ?? { position: 0, hash: NO_HASH };
}

/** Whether all entries before one are gone: old ones are deleted while others are checked. */
async function isFirst(db: Db, { position }: AuditRow): Promise<boolean> {
  const [first] = await db
    .select({ position: auditEvents.position })
    .from(auditEvents)
    .where(isNotNull(auditEvents.position))
    .orderBy(asc(auditEvents.position))
    .limit(1);
  return first?.position === position;
}

/** The position before the first entry that is there. */
function beginningOf({ position, previousHash }: AuditRow): Place {
  if (position === null || position === 1) return { position: 0, hash: NO_HASH };
  return { position: position - 1, hash: previousHash ?? NO_HASH };
}

function faultOf(keys: Pick<Keys, "mac">, before: Place, row: AuditRow): string | null {
  const expected = linkAfter(keys, before, row);
  if (row.position !== expected.position) return `there is no entry at position ${expected.position}`;
  const what = `entry ${row.auditId} at position ${row.position} (${row.createdAt.toISOString()})`;
  if (row.previousHash !== expected.previousHash) return `${what} does not follow the one before it`;
  return row.hash === expected.hash ? null : `${what} was changed, or sealed with another master key`;
}
