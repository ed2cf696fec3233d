import type { Fired, Switched, Trigger, TriggerDetail } from "../../src/contract/trigger.ts";
import { fieldsOf } from "./fields.ts";

export const TRIGGER_FIELDS = fieldsOf<Trigger>()([
  "slug",
  "name",
  "type",
  "agent",
  "model",
  "enabled",
  "cron",
  "timezone",
  "next_fire_at",
  "last_fired_at",
  "last_error",
  "webhook_url",
]);

export const TRIGGER_DETAIL_FIELDS = fieldsOf<TriggerDetail>()([
  ...TRIGGER_FIELDS,
  "prompt",
  "secret_env",
  "secrets",
  "firings",
]);

export const FIRED_FIELDS = fieldsOf<Fired>()(["status", "session_id"]);

export const SWITCHED_FIELDS = fieldsOf<Switched>()([
  "slug",
  "enabled",
  "status",
  "reason",
  "change_request",
]);
