import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { webhookDeliveries, webhooks } from "../../../db/schema/index.ts";
import type { EditWebhookBody, WebhookWithSecret } from "../../contract/webhook.ts";
import type { Deps } from "../../deps.ts";
import { requireOutboundUrl } from "../../http/outbound-url.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { readEvents, webhookEntry } from "./create.ts";
import { isWebhook, lockWebhook, unknown, type WebhookRow } from "./rows.ts";
import { secretPurpose, urlPurpose } from "./seal.ts";
import { makeSecret } from "./signature.ts";
import { toWire } from "./wire.ts";

/**
 * Changes a webhook. Deliveries that wait use the new URL and secret. Disabling it cancels them; enabling it forgets its
 * failures.
 * @throws validation_failed, url_not_allowed, not_found
 */
export async function editWebhook(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  webhookId: string,
  body: EditWebhookBody,
): Promise<WebhookWithSecret> {
  const { projectId } = project;
  const secret = body.rotate_secret ? makeSecret() : undefined;
  const { keys } = deps;
  const values: Partial<WebhookRow> = {
    ...(body.url !== undefined && {
      url: keys.seal(projectId, urlPurpose(webhookId), requireOutboundUrl(deps.config, body.url)),
    }),
    ...(secret !== undefined && { secret: keys.seal(projectId, secretPurpose(webhookId), secret) }),
    ...(body.events !== undefined && { events: readEvents(body.events) }),
    ...(body.format !== undefined && { format: body.format }),
    ...(body.enabled !== undefined && { isEnabled: body.enabled, disabledReason: null }),
    ...(body.enabled === true && { failingSince: null, failures: 0, notBefore: null }),
    updatedAt: deps.clock(),
  };
  return await deps.db.transaction(async (tx) => {
    const before = await lockWebhook(tx, project, webhookId);
    // one that is enabled already keeps its pause, and the attempt in progress
    const { notBefore, ...others } = values;
    const [row] = await tx
      .update(webhooks)
      .set(before.isEnabled ? others : values)
      .where(isWebhook(projectId, webhookId))
      .returning();
    if (!row) unknown(webhookId);
    if (body.enabled === false) await cancelPending(tx, webhookId, "The webhook was disabled.");
    const entry = webhookEntry(deps, row);
    const details = { ...entry.details, secret_rotated: secret !== undefined };
    await audit(tx, caller, { ...entry, action: "webhook.edited", project, details });
    return { ...(await toWire(deps, tx, row)), ...(secret !== undefined && { secret }) };
  });
}

/** Deletes a webhook with its deliveries. @throws not_found */
export async function deleteWebhook(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  webhookId: string,
): Promise<{ ok: true }> {
  return await deps.db.transaction(async (tx) => {
    const [gone] = await tx.delete(webhooks).where(isWebhook(project.projectId, webhookId)).returning();
    if (!gone) unknown(webhookId);
    await audit(tx, caller, { ...webhookEntry(deps, gone), action: "webhook.deleted", project });
    return { ok: true };
  });
}

/** Ends the deliveries of a webhook that is disabled. They can be redelivered. @param why as a sentence */
export async function cancelPending(db: Db, webhookId: string, why: string): Promise<void> {
  await db
    .update(webhookDeliveries)
    .set({ status: "failed", nextAttemptAt: null, error: why })
    .where(and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.status, "pending")));
}
