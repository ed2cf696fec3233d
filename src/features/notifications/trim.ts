import { inArray, sql } from "drizzle-orm";
import { notifications, projects } from "../../../db/schema/index.ts";
import { NOTIFICATIONS_KEPT } from "../../contract/notification-event.ts";
import type { Deps } from "../../deps.ts";

const KEPT_DAYS = 30;
/** Rows deleted by one statement, so that none exceeds the statement timeout. */
const BATCH = 2_000;

/** Deletes old notifications, and those of deleted projects. */
export async function trimNotifications({ db }: Pick<Deps, "db">): Promise<void> {
  const { notificationId, userId, projectId, seq, createdAt } = notifications;
  for (let removed = BATCH; removed === BATCH; ) {
    const ranked = db
      .select({
        id: notificationId,
        at: createdAt,
        of: sql<string>`${projectId}`.as("of"),
        place: sql<number>`row_number() over (partition by ${userId} order by ${seq} desc)`.as("place"),
      })
      .from(notifications)
      .as("ranked");
    const due = db
      .select({ id: ranked.id })
      .from(ranked)
      .where(
        sql`${ranked.place} > ${NOTIFICATIONS_KEPT} or ${ranked.at} < now() - make_interval(days => ${KEPT_DAYS})
          or not exists (select from ${projects} where ${projects.projectId} = ${ranked.of})`,
      )
      .limit(BATCH);
    const gone = await db
      .delete(notifications)
      .where(inArray(notificationId, due))
      .returning({ id: notificationId });
    removed = gone.length;
  }
}
