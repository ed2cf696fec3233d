import { and, eq, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import {
  accountMembers,
  notificationChoices,
  notificationDeliveries,
  notifications,
  projectSessions,
  projects,
  pushBrowsers,
} from "../../../db/schema/index.ts";
import { HIDDEN } from "../../contract/hidden.ts";
import { DEFAULT_WAYS, type NotificationEvent } from "../../contract/notification-event.ts";
import { EVENTS_CHANNEL } from "../../events/publish.ts";

/** Nothing is sent before: who has the page open sees it there, and a queued prompt keeps an agent at work. */
const QUIET_S = 5;
/** Characters of a title and of a text: what a notification of a phone shows. */
const LINE_MAX = 300;

/** The name in `changes` under which something to send is announced. */
export const NOTIFICATION_WAKER = "notification";

/** What people are notified of. */
export interface Notice {
  event: NotificationEvent;
  projectId: string;
  /** What happened: people are notified of it once. */
  key: string;
  of: { sessionId: string } | { crNumber: number } | { appSlug: string };
  /** Of the session or the change request, or a domain. May be anybody's text, as `text` may. */
  title: string;
  text: string;
}

/** The row of a change request that people are notified of. */
export interface OwnedChangeRequest {
  projectId: string;
  crId: string;
  number: number;
  title: string;
  createdBy: string;
  originSessionId: string | null;
}

/**
 * Notifies people, as they have chosen, in the transaction of what is reported and before `publish`. Only members of the
 * project's account are.
 */
export async function notify(tx: Db, notice: Notice, userIds: readonly string[]): Promise<void> {
  const { event, projectId, key, of } = notice;
  const chosen = await waysOf(tx, notice, userIds);
  const rows = chosen.flatMap(({ userId, ways }) =>
    ways.length === 0
      ? []
      : [
          {
            ...{ userId, projectId, event, key, ...of },
            title: line(notice.title),
            text: line(notice.text),
            isOnPage: ways.includes("page"),
          },
        ],
  );
  if (rows.length === 0) return;
  const made = await tx
    .insert(notifications)
    .values(rows)
    .onConflictDoNothing()
    .returning({ id: notifications.notificationId, userId: notifications.userId });
  const having = (way: "push" | "email") =>
    made.filter((each) => chosen.some(({ userId, ways }) => userId === each.userId && ways.includes(way)));
  const [pushed, mailed] = [having("push"), having("email")];
  if (pushed.length > 0)
    await queue(
      tx,
      sql`select ${notifications.notificationId}, ${pushBrowsers.browserId} from ${notifications}
        join ${pushBrowsers} on ${pushBrowsers.userId} = ${notifications.userId} where ${isOneOf(pushed)}`,
    );
  if (mailed.length > 0)
    await queue(
      tx,
      sql`select ${notifications.notificationId}, null::uuid from ${notifications} where ${isOneOf(mailed)}`,
    );
}

/**
 * Notifies the person of a change request: who opened it, or whose session made it.
 * @param but who did what is reported, in person
 */
export async function notifyOfChangeRequest(
  tx: Db,
  cr: OwnedChangeRequest,
  { event, key, text, but }: Pick<Notice, "event" | "key" | "text"> & { but: string | null },
): Promise<void> {
  const { projectId, number, title, createdBy, originSessionId } = cr;
  const starter =
    originSessionId === null
      ? []
      : await tx
          .select({ userId: projectSessions.createdBy })
          .from(projectSessions)
          .where(eq(projectSessions.sessionId, originSessionId));
  const people = new Set([createdBy, ...starter.map(({ userId }) => userId)]);
  if (but !== null) people.delete(but);
  const notice = { event, projectId, key, of: { crNumber: number }, title: `#${number} ${title}`, text };
  await notify(tx, notice, [...people]);
}

/**
 * Ends what a session's person was notified of and is over: nothing is sent for it any more.
 * @param but the key of what still holds
 */
export async function endSessionNotices(
  tx: Db,
  { sessionId, at, but }: { sessionId: string; at: Date; but?: string },
  events: readonly NotificationEvent[],
): Promise<void> {
  await tx
    .update(notifications)
    .set({ readAt: at })
    .where(
      and(
        eq(notifications.sessionId, sessionId),
        isNull(notifications.readAt),
        inArray(notifications.event, [...events]),
        but === undefined ? undefined : ne(notifications.key, but),
      ),
    );
}

async function waysOf(tx: Db, { event, projectId }: Notice, userIds: readonly string[]) {
  if (userIds.length === 0) return [];
  const rows = await tx
    .select({ userId: accountMembers.userId, ways: notificationChoices.ways })
    .from(projects)
    .innerJoin(accountMembers, eq(accountMembers.accountId, projects.accountId))
    .leftJoin(
      notificationChoices,
      and(eq(notificationChoices.userId, accountMembers.userId), eq(notificationChoices.event, event)),
    )
    .where(and(eq(projects.projectId, projectId), inArray(accountMembers.userId, [...userIds])));
  return rows.map(({ userId, ways }) => ({ userId, ways: ways ?? DEFAULT_WAYS[event] }));
}

/** @param what selects notifications and browsers */
async function queue(tx: Db, what: SQL): Promise<void> {
  await tx.execute(sql`
    with added as (
      insert into ${notificationDeliveries} (notification_id, browser_id, due_at)
      select found.*, now() + make_interval(secs => ${QUIET_S}) from (${what}) as found
      returning delivery_id
    )
    select pg_notify(${EVENTS_CHANNEL}, ${JSON.stringify({ type: NOTIFICATION_WAKER })}) where exists (select from added)`);
}

function isOneOf(made: readonly { id: string }[]): SQL {
  return inArray(
    notifications.notificationId,
    made.map(({ id }) => id),
  );
}

/** A text of anybody on one line, with a bound. */
export function line(text: string): string {
  const characters = [...text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim()];
  return characters.length <= LINE_MAX
    ? characters.join("")
    : `${characters.slice(0, LINE_MAX - 1).join("")}…`;
}
