import { and, desc, eq, getTableColumns, inArray, isNull, lt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, notifications, projects } from "../../../db/schema/index.ts";
import type {
  Notification,
  Notifications,
  ReadNotificationsBody,
  UnreadNotifications,
} from "../../contract/notification.ts";
import type { Deps } from "../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../http/page.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { publicUrl } from "../../identity/auth/public-url.ts";
import { pathOf, titleOf } from "./message.ts";

/** What the caller was notified of, the newest first: of the projects whose account they are in. */
export async function listNotifications(
  deps: Deps,
  { userId }: Caller,
  { limit, cursor, isUnread }: Page & { isUnread: boolean },
): Promise<Notifications> {
  const before = readCursor(cursor, NUMBER_CURSOR);
  const found = await deps.db
    .select({ ...getTableColumns(notifications), slug: projects.slug, name: projects.name })
    .from(notifications)
    .innerJoin(projects, eq(projects.projectId, notifications.projectId))
    .where(
      and(
        isShownTo(deps.db, userId),
        isUnread ? isNull(notifications.readAt) : undefined,
        before === null ? undefined : lt(notifications.seq, Number(before)),
      ),
    )
    .orderBy(desc(notifications.seq))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, ({ seq }) => String(seq));
  const site = publicUrl(deps);
  return {
    notifications: rows.map((row) => toWire(row, site)),
    unread: await countUnread(deps.db, userId),
    ...next,
  };
}

/** Marks notifications of the caller as read: those named, or all. What waits to be sent for them is not. */
export async function readNotifications(
  deps: Deps,
  { userId }: Caller,
  { notification_ids: ids }: ReadNotificationsBody,
): Promise<UnreadNotifications> {
  await deps.db
    .update(notifications)
    .set({ readAt: deps.clock() })
    .where(
      and(
        eq(notifications.userId, userId),
        isNull(notifications.readAt),
        ids ? inArray(notifications.notificationId, ids) : undefined,
      ),
    );
  return { unread: await countUnread(deps.db, userId) };
}

async function countUnread(db: Db, userId: string): Promise<number> {
  return await db.$count(notifications, and(isShownTo(db, userId), isNull(notifications.readAt)));
}

/** Those of the list. A person who has left an account sees its projects no more. */
function isShownTo(db: Db, userId: string) {
  const own = db
    .select({ projectId: projects.projectId })
    .from(projects)
    .innerJoin(accountMembers, eq(accountMembers.accountId, projects.accountId))
    .where(eq(accountMembers.userId, userId));
  return and(eq(notifications.userId, userId), notifications.isOnPage, inArray(notifications.projectId, own));
}

type Row = typeof notifications.$inferSelect & { slug: string; name: string };

function toWire(row: Row, site: string): Notification {
  return {
    notification_id: row.notificationId,
    event: row.event,
    project_id: row.projectId,
    project_slug: row.slug,
    project_name: row.name,
    session_id: row.sessionId,
    change_request: row.crNumber,
    app: row.appSlug,
    title: titleOf(row),
    text: row.text,
    url: site + pathOf(row, row),
    read_at: row.readAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
  };
}
