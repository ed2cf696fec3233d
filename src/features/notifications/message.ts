import { NOTIFICATION_VERBS, type NotificationEvent } from "../../contract/notification-event.ts";

/** A notification as it is sent. */
export interface Message {
  id: string;
  event: NotificationEvent;
  title: string;
  /** Empty if the title says it all. */
  text: string;
  /** Of its page, from the root of the site. */
  path: string;
}

interface Row {
  notificationId: string;
  event: NotificationEvent;
  title: string;
  text: string;
  sessionId: string | null;
  crNumber: number | null;
  appSlug: string | null;
}

export function messageOf(row: Row, project: { slug: string; name: string }): Message {
  const { notificationId, event, text } = row;
  return {
    ...{ id: notificationId, event, text },
    title: `${project.name}: ${titleOf(row)} ${NOTIFICATION_VERBS[event]}`,
    path: pathOf(row, project),
  };
}

/** What a notification is about. A session may have no title yet. */
export function titleOf({ title, sessionId }: Pick<Row, "title" | "sessionId">): string {
  return title || `session ${sessionId?.slice(0, 8)}`;
}

export function pathOf(
  { sessionId, crNumber, appSlug }: Pick<Row, "sessionId" | "crNumber" | "appSlug">,
  { slug }: { slug: string },
): string {
  const page =
    sessionId !== null
      ? `sessions/${encodeURIComponent(sessionId)}`
      : appSlug !== null
        ? `apps/${encodeURIComponent(appSlug)}`
        : `change-requests/${crNumber}`;
  return `/projects/${encodeURIComponent(slug)}/${page}`;
}
