import type { Notification, Notifications } from "../../../src/contract/notification.ts";
import { NOTIFICATION_VERBS } from "../../../src/contract/notification-event.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/notifications.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const api = context.apiFor(await context.target());
  const query = {
    ...(flags.unread && { unread: "true" }),
    ...(flags.limit !== undefined && { limit: String(flags.limit) }),
  };
  const { notifications } = await api.call<Notifications>({ path: "/accounts/notifications", query });
  await context.out.result(notifications, (view) =>
    notifications.length === 0 ? "" : tableOf(notifications, COLUMNS, view),
  );
  if (notifications.length === 0)
    await context.out.note("No notifications. What you are notified of: svc notifications set");
};

const COLUMNS: readonly Column<Notification>[] = [
  {
    title: "ID",
    value: ({ notification_id }) => notification_id,
    shown: ({ notification_id }) => notification_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  {
    title: "CREATED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, view) => ago(created_at, view.now),
  },
  { title: "STATE", value: ({ read_at }) => (read_at === null ? "unread" : "read") },
  { title: "PROJECT", value: ({ project_slug }) => project_slug },
  {
    title: "WHAT",
    value: ({ title, event }) => `${title} ${NOTIFICATION_VERBS[event]}`,
    flexible: true,
  },
  { title: "TEXT", value: ({ text }) => text, flexible: true },
];
