import { inArray, sql } from "drizzle-orm";
import { webhookDeliveries } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/** Ended deliveries that are kept of a webhook, and for how long. */
const KEPT = 200;
const KEPT_DAYS = 14;
/** Rows deleted by one statement, so that none exceeds the statement timeout. */
const BATCH = 2_000;

/** Deletes old deliveries from the log. Servers that do so at the same time skip each other's rows. */
export async function trimDeliveries({ db }: Pick<Deps, "db">): Promise<void> {
  const { deliveryId, webhookId, seq, status, createdAt } = webhookDeliveries;
  for (let removed = BATCH; removed === BATCH; ) {
    const ranked = db
      .select({
        id: deliveryId,
        at: createdAt,
        place: sql<number>`row_number() over (partition by ${webhookId} order by ${seq} desc)`.as("place"),
      })
      .from(webhookDeliveries)
      .where(sql`${status} <> 'pending'`)
      .as("ranked");
    const due = db
      .select({ id: ranked.id })
      .from(ranked)
      .where(sql`${ranked.place} > ${KEPT} or ${ranked.at} < now() - make_interval(days => ${KEPT_DAYS})`)
      .limit(BATCH);
    const gone = await db
      .delete(webhookDeliveries)
      .where(inArray(deliveryId, due))
      .returning({ id: deliveryId });
    removed = gone.length;
  }
}
