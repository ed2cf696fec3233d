import { type Static, Type } from "@sinclair/typebox";
import { NAME_MAX } from "./limits.ts";
import { NOTIFICATION_EVENTS, NOTIFICATION_WAYS, NOTIFICATIONS_KEPT } from "./notification-event.ts";
import { nullable, oneOf } from "./schema.ts";

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });

/** Something that a person was notified of. */
export const notification = Type.Object({
  notification_id: uuid,
  event: oneOf(NOTIFICATION_EVENTS),
  project_id: uuid,
  project_slug: Type.String(),
  project_name: Type.String(),
  session_id: nullable(Type.String()),
  change_request: nullable(Type.Integer({ description: "The number of the change request" })),
  app: nullable(Type.String({ description: "The slug of the app" })),
  title: Type.String({
    description: "The title of the session or the change request, or a domain of the app",
  }),
  text: Type.String({ description: "What it says, such as the question; empty if it says no more" }),
  url: Type.String({ description: "Its page" }),
  read_at: nullable(Type.String({ format: "date-time", description: "When it was read, or was over" })),
  created_at: time,
});
export type Notification = Static<typeof notification>;

/** Answer of `GET /v1/accounts/notifications`, the newest first. */
export const notifications = Type.Object({
  notifications: Type.Array(notification),
  unread: Type.Integer({ description: "How many are unread, on all pages" }),
  next_cursor: Type.Optional(Type.String()),
});
export type Notifications = Static<typeof notifications>;

/** Body of `POST /v1/accounts/notifications/read`. */
export const readNotificationsBody = Type.Object({
  notification_ids: Type.Optional(
    Type.Array(uuid, { minItems: 1, maxItems: NOTIFICATIONS_KEPT, description: "All if left out" }),
  ),
});
export type ReadNotificationsBody = Static<typeof readNotificationsBody>;

/** Answer of the same. */
export const unreadNotifications = Type.Object({ unread: Type.Integer() });
export type UnreadNotifications = Static<typeof unreadNotifications>;

/** A browser in which push is switched on. */
export const pushBrowser = Type.Object({
  browser_id: uuid,
  name: Type.String(),
  created_at: time,
  delivered_at: nullable(Type.String({ format: "date-time", description: "The last push that was taken" })),
  error: nullable(Type.String({ description: "Why the last push was not taken, as a sentence" })),
});
export type PushBrowser = Static<typeof pushBrowser>;

const choice = Type.Object({
  event: oneOf(NOTIFICATION_EVENTS),
  ways: Type.Array(oneOf(NOTIFICATION_WAYS), {
    maxItems: NOTIFICATION_WAYS.length,
    description: "How the person is notified; empty: not at all",
  }),
});
export type NotificationChoice = Static<typeof choice>;

/** Answer of `GET /v1/accounts/notifications/settings`. */
export const notificationSettings = Type.Object({
  choices: Type.Array(choice),
  email: nullable(Type.String({ description: "Where e-mails go" })),
  email_problem: nullable(Type.String({ description: "Why none are sent, as a sentence" })),
  push_key: Type.String({ description: "The server's VAPID public key, for PushManager.subscribe()" }),
  browsers: Type.Array(pushBrowser),
});
export type NotificationSettings = Static<typeof notificationSettings>;

/** Body of `PATCH /v1/accounts/notifications/settings`: the events to change. */
export const editNotificationSettingsBody = Type.Object({
  choices: Type.Array(choice, { minItems: 1, maxItems: NOTIFICATION_EVENTS.length }),
});
export type EditNotificationSettingsBody = Static<typeof editNotificationSettingsBody>;

/** A URL of a push service, in characters: those of Windows are the longest, about 600. */
const ENDPOINT_MAX = 2_048;

/** Body of `POST /v1/accounts/notifications/browsers`: what `PushSubscription.toJSON()` returns. */
export const addPushBrowserBody = Type.Object({
  endpoint: Type.String({ minLength: 1, maxLength: ENDPOINT_MAX }),
  keys: Type.Object({
    p256dh: Type.String({ pattern: "^[A-Za-z0-9_-]{87}=?$", description: "65 bytes in base64url" }),
    auth: Type.String({ pattern: "^[A-Za-z0-9_-]{22}(?:==)?$", description: "16 bytes in base64url" }),
  }),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" })),
});
export type AddPushBrowserBody = Static<typeof addPushBrowserBody>;
