import type { Db } from "../../../db/client.ts";
import type { Delivery, Webhook } from "../../contract/webhook.ts";
import { WEBHOOK_EVENTS } from "../../contract/webhook-event.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import { urlPurpose } from "./seal.ts";

/** Webhooks as they cross the wire: without their secrets. */
export async function allToWire(
  { keys }: Pick<Deps, "keys">,
  db: Db,
  rows: readonly WebhookRow[],
): Promise<Webhook[]> {
  const names = await namesOf(
    db,
    rows.map(({ createdBy }) => createdBy),
  );
  return rows.map((row) => ({
    webhook_id: row.webhookId,
    project_id: row.projectId,
    url: openUrl(keys, row),
    events: WEBHOOK_EVENTS.filter((name) => row.events.includes(name)),
    format: row.format,
    enabled: row.isEnabled,
    disabled_reason: row.disabledReason,
    failing_since: row.failingSince?.toISOString() ?? null,
    author: row.createdBy === null ? null : authorOf(names, row.createdBy, null),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }));
}

export async function toWire(deps: Pick<Deps, "keys">, db: Db, row: WebhookRow): Promise<Webhook> {
  const [shown] = await allToWire(deps, db, [row]);
  if (!shown) throw new Error("a webhook was left out");
  return shown;
}

/** Empty if it was sealed with another key: the list must still show that the webhook exists. */
function openUrl(keys: Deps["keys"], { projectId, webhookId, url }: WebhookRow): string {
  try {
    return keys.open(projectId, urlPurpose(webhookId), url);
  } catch {
    return "";
  }
}

export function deliveryToWire(row: DeliveryRow): Delivery {
  return {
    delivery_id: row.deliveryId,
    webhook_id: row.webhookId,
    event_id: row.eventId,
    type: row.type,
    status: row.status,
    redelivery: row.isRedelivery,
    attempts: row.attempts,
    status_code: row.statusCode,
    duration_ms: row.durationMs,
    response: row.response,
    error: row.error,
    created_at: row.createdAt.toISOString(),
    attempted_at: row.attemptedAt?.toISOString() ?? null,
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
  };
}
