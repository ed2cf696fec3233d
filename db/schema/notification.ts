import { sql } from "drizzle-orm";
import {
  bigserial,
  boolean,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { NOTIFICATION_EVENTS, NOTIFICATION_WAYS } from "../../src/contract/notification-event.ts";
import { users } from "./account.ts";
import { time } from "./time.ts";

export const notificationEvent = pgEnum("notification_event", NOTIFICATION_EVENTS);
export const notificationWay = pgEnum("notification_way", NOTIFICATION_WAYS);

/** How a person is notified of an event, if they have chosen. */
export const notificationChoices = pgTable(
  "notification_choices",
  {
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    event: notificationEvent("event").notNull(),
    ways: notificationWay("ways").array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.event] })],
);

/**
 * What people are notified of, recorded in the transaction of what it reports. They reference neither project nor session,
 * whose deletion locks rows in another order; those of a deleted one are not shown, and are trimmed.
 */
export const notifications = pgTable(
  "notifications",
  {
    notificationId: uuid("notification_id").primaryKey().defaultRandom(),
    /** Orders the notifications of a person. */
    seq: bigserial("seq", { mode: "number" }).notNull(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    projectId: uuid("project_id").notNull(),
    event: notificationEvent("event").notNull(),
    /** What happened, so that a person is notified of it once. */
    key: text("key").notNull(),
    sessionId: text("session_id"),
    crNumber: integer("cr_number"),
    appSlug: text("app_slug"),
    title: text("title").notNull(),
    text: text("text").notNull(),
    isOnPage: boolean("is_on_page").notNull(),
    /** When it was read, or was over. */
    readAt: time("read_at"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    unique("notifications_once").on(table.userId, table.event, table.key),
    index("notifications_user_id_seq").on(table.userId, table.seq),
    index("notifications_of_session").on(table.sessionId).where(sql`${table.readAt} is null`),
  ],
);

/** Browsers that take pushed messages. */
export const pushBrowsers = pgTable(
  "push_browsers",
  {
    browserId: uuid("browser_id").primaryKey(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId, { onDelete: "cascade" }),
    /** Keyed hash of the endpoint: a browser has one subscription, of the person who was the last to switch push on. */
    endpointHash: text("endpoint_hash").notNull().unique("push_browsers_endpoint_hash_unique"),
    /** The subscription, sealed, bound to the row: who has it can send to the browser. */
    subscription: text("subscription").notNull(),
    name: text("name").notNull(),
    deliveredAt: time("delivered_at"),
    error: text("error"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [index("push_browsers_user_id").on(table.userId)],
);

/** What is still to be sent: one row for each browser, and one for the e-mail. */
export const notificationDeliveries = pgTable(
  "notification_deliveries",
  {
    deliveryId: uuid("delivery_id").primaryKey().defaultRandom(),
    notificationId: uuid("notification_id")
      .notNull()
      .references(() => notifications.notificationId, { onDelete: "cascade" }),
    /** Null: the e-mail. */
    browserId: uuid("browser_id").references(() => pushBrowsers.browserId, { onDelete: "cascade" }),
    attempts: integer("attempts").notNull().default(0),
    /** When it is attempted, or when the claim of a server that attempts it ends. */
    dueAt: time("due_at").notNull(),
  },
  (table) => [
    index("notification_deliveries_due_at").on(table.dueAt),
    index("notification_deliveries_notification_id").on(table.notificationId),
    index("notification_deliveries_browser_id").on(table.browserId),
  ],
);
