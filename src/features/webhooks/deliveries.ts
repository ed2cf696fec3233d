import { and, desc, eq, lt } from "drizzle-orm";
import { webhookDeliveries } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { type Delivery, type DeliveryWithPayload, TEST_EVENT } from "../../contract/webhook.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { webhookEntry } from "./create.ts";
import { addDeliveries, payloadOf } from "./record.ts";
import { findDelivery, findWebhook, lockWebhook, type WebhookRow } from "./rows.ts";
import { deliveryToWire } from "./wire.ts";

/** Names of a delivery in a path. */
export interface DeliveryNames {
  webhookId: string;
  deliveryId: string;
}

const SEQ_CURSOR = /^[1-9]\d{0,14}$/;

/** The deliveries of a webhook, newest first. @throws not_found */
export async function listDeliveries(
  deps: Deps,
  project: ProjectRow,
  webhookId: string,
  { limit, cursor }: Page,
): Promise<{ deliveries: Delivery[]; next_cursor?: string }> {
  const before = readCursor(cursor, SEQ_CURSOR);
  await findWebhook(deps.db, project, webhookId);
  const found = await deps.db
    .select()
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.webhookId, webhookId),
        before === null ? undefined : lt(webhookDeliveries.seq, Number(before)),
      ),
    )
    .orderBy(desc(webhookDeliveries.seq))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, ({ seq }) => String(seq));
  return { deliveries: rows.map(deliveryToWire), ...next };
}

/** One delivery, with the event. @throws not_found */
export async function getDelivery(
  deps: Deps,
  project: ProjectRow,
  { webhookId, deliveryId }: DeliveryNames,
): Promise<DeliveryWithPayload> {
  const row = await findDelivery(deps.db, await findWebhook(deps.db, project, webhookId), deliveryId);
  return { ...deliveryToWire(row), payload: JSON.parse(row.payload) };
}

/** Queues the same event again, with the id of the first delivery. @throws not_found, webhook_disabled */
export async function redeliver(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { webhookId, deliveryId }: DeliveryNames,
): Promise<Delivery> {
  return await deps.db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, project, webhookId);
    const { eventId, type, payload } = await findDelivery(tx, webhook, deliveryId);
    requireEnabled(webhook);
    const [row] = await addDeliveries(tx, [webhookId], { eventId, type, payload, at: deps.clock() });
    if (!row) throw new Error("the insert of a delivery returned no row");
    const entry = { ...webhookEntry(deps, webhook), details: { delivery_id: deliveryId, type } };
    await audit(tx, caller, { ...entry, action: "webhook.redelivered", project });
    return deliveryToWire(row);
  });
}

/** Queues a test event for a webhook. @throws not_found, webhook_disabled */
export async function testWebhook(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  webhookId: string,
): Promise<Delivery> {
  return await deps.db.transaction(async (tx) => {
    const webhook = await lockWebhook(tx, project, webhookId);
    requireEnabled(webhook);
    const event = { type: TEST_EVENT, at: deps.clock() };
    const payload = payloadOf(project, event, { webhook_id: webhookId });
    const [row] = await addDeliveries(tx, [webhookId], { ...event, payload });
    if (!row) throw new Error("the insert of a delivery returned no row");
    await audit(tx, caller, { ...webhookEntry(deps, webhook), action: "webhook.tested", project });
    return deliveryToWire(row);
  });
}

function requireEnabled({ webhookId, isEnabled }: WebhookRow): void {
  if (isEnabled) return;
  throw new SvcError(
    "webhook_disabled",
    `The webhook is disabled, so nothing is sent. Enable it first: svc webhooks edit ${webhookId} --enable`,
  );
}
