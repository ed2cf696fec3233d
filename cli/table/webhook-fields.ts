import type { Delivery, Webhook } from "../../src/contract/webhook.ts";
import { fieldsOf } from "./fields.ts";

export const WEBHOOK_FIELDS = fieldsOf<Webhook>()([
  "webhook_id",
  "project_id",
  "url",
  "events",
  "format",
  "enabled",
  "disabled_reason",
  "failing_since",
  "author",
  "created_at",
  "updated_at",
]);

/** With a secret that was made. */
export const NEW_WEBHOOK_FIELDS = [...WEBHOOK_FIELDS, "secret"] as const;

export const DELIVERY_FIELDS = fieldsOf<Delivery>()([
  "delivery_id",
  "webhook_id",
  "event_id",
  "type",
  "status",
  "redelivery",
  "attempts",
  "status_code",
  "duration_ms",
  "response",
  "error",
  "created_at",
  "attempted_at",
  "next_attempt_at",
]);
