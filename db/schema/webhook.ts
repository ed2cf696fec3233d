import { sql } from "drizzle-orm";
import { bigserial, boolean, index, integer, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { DELIVERY_STATUSES, WEBHOOK_FORMATS } from "../../src/contract/webhook.ts";
import { users } from "./account.ts";
import { projects } from "./project.ts";
import { time } from "./time.ts";

export const webhookFormat = pgEnum("webhook_format", WEBHOOK_FORMATS);
export const deliveryStatus = pgEnum("delivery_status", DELIVERY_STATUSES);

/** URLs that a project's events are sent to. */
export const webhooks = pgTable(
  "webhooks",
  {
    webhookId: uuid("webhook_id").primaryKey(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    /** Sealed, bound to project and webhook: the URL of a chat service is a credential. */
    url: text("url").notNull(),
    /** Sealed likewise; signs the deliveries. */
    secret: text("secret").notNull(),
    events: text("events").array().notNull(),
    format: webhookFormat("format").notNull(),
    isEnabled: boolean("is_enabled").notNull().default(true),
    /** Why svc disabled it; null if a user did. */
    disabledReason: text("disabled_reason"),
    /** The first of the attempts that have failed since the last success, and their number. */
    failingSince: time("failing_since"),
    failures: integer("failures").notNull().default(0),
    /** No attempt begins before: one is in progress, or the receiver gets a pause. */
    notBefore: time("not_before"),
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "set null" }),
    createdAt: time("created_at").notNull().defaultNow(),
    updatedAt: time("updated_at").notNull().defaultNow(),
  },
  (table) => [index("webhooks_project_id").on(table.projectId)],
);

/**
 * Deliveries of events, recorded in the transaction of what they report: the queue and the log. They reference the webhook
 * alone, whose row the writer has locked, not the project.
 */
export const webhookDeliveries = pgTable(
  "webhook_deliveries",
  {
    deliveryId: uuid("delivery_id").primaryKey().defaultRandom(),
    /** Orders the deliveries of a webhook. */
    seq: bigserial("seq", { mode: "number" }).notNull(),
    webhookId: uuid("webhook_id")
      .notNull()
      .references(() => webhooks.webhookId, { onDelete: "cascade" }),
    /** The id of the event, which redeliveries and other webhooks of the project share. */
    eventId: uuid("event_id").notNull(),
    type: text("type").notNull(),
    /** The JSON that is sent. */
    payload: text("payload").notNull(),
    isRedelivery: boolean("is_redelivery").notNull().default(false),
    status: deliveryStatus("status").notNull().default("pending"),
    attempts: integer("attempts").notNull().default(0),
    /** Null before the first attempt, which is due at once, and after the last. */
    nextAttemptAt: time("next_attempt_at"),
    attemptedAt: time("attempted_at"),
    statusCode: integer("status_code"),
    durationMs: integer("duration_ms"),
    response: text("response"),
    error: text("error"),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("webhook_deliveries_webhook_id_seq").on(table.webhookId, table.seq),
    index("webhook_deliveries_pending").on(table.webhookId).where(sql`${table.status} = 'pending'`),
  ],
);
