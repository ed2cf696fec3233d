import { asc, eq, gt, isNotNull, isNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { auditEvents, auditHead } from "../../../db/schema/index.ts";
import type { Keys } from "../../keys.ts";
import { type AuditRow, type Link, linkAfter, NO_HASH } from "./chain.ts";

/** A place in the chain, and the hash there. */
type Place = Pick<Link, "position" | "hash">;

/** Entries in memory at a time. */
const BATCH = 1_000;

/** What a check of the chain has found. */
export interface AuditCheck {
  /** Entries whose hashes are right. */
  sealed: number;
  /** Entries that wait for their place. */
  unsealed: number;
  /** Where the chain begins, and since when: later than the first place once old entries were deleted. */
  first: { position: number; createdAt: Date } | null;
  /** The end of the chain. */
  head: Place;
  /** What is wrong first, as the rest of a sentence; null: nothing. */
  fault: string | null;
}

/**
 * Checks the chain of hashes from its beginning, which is later than the first place once old entries were deleted, also
 * during the check. An entry that was changed, added or removed does not fit the one after it.
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
        return await answer(`the end of the chain at place ${head.position} has another hash`);
    }
    if (rows.length < batch) break;
  }
  if (end !== null && end.position < head.position)
    return await answer(
      `the entries after place ${end.position} are missing: the chain ends at ${head.position}`,
    );
  if (end !== null && end.position > (await headOf(db)).position)
    return await answer(`the chain goes on to place ${end.position}, after its recorded end`);
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

/** The place before the first entry that is there. */
function beginningOf({ position, previousHash }: AuditRow): Place {
  if (position === null || position === 1) return { position: 0, hash: NO_HASH };
  return { position: position - 1, hash: previousHash ?? NO_HASH };
}

function faultOf(keys: Pick<Keys, "mac">, before: Place, row: AuditRow): string | null {
  const expected = linkAfter(keys, before, row);
  if (row.position !== expected.position) return `no entry is at place ${expected.position}`;
  const what = `the entry ${row.auditId} at place ${row.position} (${row.createdAt.toISOString()})`;
  if (row.previousHash !== expected.previousHash) return `${what} does not follow the one before it`;
  return row.hash === expected.hash ? null : `${what} was changed, or sealed with another master key`;
}
