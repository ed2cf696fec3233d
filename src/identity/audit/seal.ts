import { asc, eq, isNull, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { auditEvents, auditHead } from "../../../db/schema/index.ts";
import type { Keys } from "../../keys.ts";
import { type Link, linkAfter, NO_HASH } from "./chain.ts";

const isUnsealed = isNull(auditEvents.position);

/** Entries of one transaction: some milliseconds. */
const BATCH = 500;

/**
 * Gives committed entries their positions in the chain of hashes, in the order of their ids; one whose transaction commits
 * late gets a later position. The entries are not chained as they are written, since that would let only one change of a
 * server commit at a time. Of several servers one does it, which has the end of the chain locked.
 * @returns whether there may be more
 */
export async function sealEntries(
  { db, keys }: { db: Db; keys: Pick<Keys, "mac"> },
  batch = BATCH,
): Promise<boolean> {
  // an idle server writes nothing
  const [waiting] = await db.select({ id: auditEvents.auditId }).from(auditEvents).where(isUnsealed).limit(1);
  if (!waiting) return false;
  return await db.transaction(async (tx) => {
    await tx.insert(auditHead).values({ id: 1, position: 0, hash: NO_HASH }).onConflictDoNothing();
    const [head] = await tx.select().from(auditHead).for("update", { skipLocked: true });
    if (!head) return false;
    const rows = await tx
      .select()
      .from(auditEvents)
      .where(isUnsealed)
      .orderBy(asc(auditEvents.auditId))
      .limit(batch);
    if (rows.length === 0) return false;
    const links: (Link & { auditId: number })[] = [];
    let end: Pick<Link, "position" | "hash"> = head;
    for (const row of rows) {
      const link = linkAfter(keys, end, row);
      links.push({ auditId: row.auditId, ...link });
      end = link;
    }
    await tx.execute(sql`
      update ${auditEvents} set position = (link->>'position')::bigint, previous_hash = link->>'previousHash',
        hash = link->>'hash'
      from json_array_elements(${JSON.stringify(links)}::json) as links(link)
      where audit_id = (link->>'auditId')::bigint`);
    await tx.update(auditHead).set({ position: end.position, hash: end.hash }).where(eq(auditHead.id, 1));
    return rows.length === batch;
  });
}
