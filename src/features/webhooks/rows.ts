import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { webhookDeliveries, webhooks } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

export type WebhookRow = typeof webhooks.$inferSelect;
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;

type OfProject = Pick<ProjectRow, "projectId">;

/** One webhook of a project. @throws not_found */
export async function findWebhook(db: Db, { projectId }: OfProject, webhookId: string): Promise<WebhookRow> {
  const [row] = await db.select().from(webhooks).where(isWebhook(projectId, webhookId));
  return row ?? unknown(webhookId);
}

/** The same, locked against deletion and other changes. @throws not_found */
export async function lockWebhook(tx: Db, { projectId }: OfProject, webhookId: string): Promise<WebhookRow> {
  const [row] = await tx.select().from(webhooks).where(isWebhook(projectId, webhookId)).for("no key update");
  return row ?? unknown(webhookId);
}

/** One delivery of a webhook. @throws not_found */
export async function findDelivery(
  db: Db,
  { webhookId }: Pick<WebhookRow, "webhookId">,
  deliveryId: string,
): Promise<DeliveryRow> {
  const isIt = and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.deliveryId, deliveryId));
  const [row] = await db.select().from(webhookDeliveries).where(isIt);
  if (row) return row;
  throw new SvcError(
    "not_found",
    `The webhook has no delivery ${deliveryId}. Old ones are removed. List them with: svc webhooks deliveries ${webhookId}`,
  );
}

export function isWebhook(projectId: string, webhookId: string) {
  return and(eq(webhooks.projectId, projectId), eq(webhooks.webhookId, webhookId));
}

export function unknown(webhookId: string): never {
  throw new SvcError(
    "not_found",
    `The project has no webhook ${webhookId}. List its webhooks with: svc webhooks ls`,
  );
}
