import { asc, eq } from "drizzle-orm";
import { webhooks } from "../../../db/schema/index.ts";
import type { Webhook } from "../../contract/webhook.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { findWebhook } from "./rows.ts";
import { allToWire, toWire } from "./wire.ts";

/** The project's webhooks, oldest first. Their number is limited, so there is one page. */
export async function listWebhooks(deps: Deps, { projectId }: ProjectRow): Promise<{ webhooks: Webhook[] }> {
  const rows = await deps.db
    .select()
    .from(webhooks)
    .where(eq(webhooks.projectId, projectId))
    .orderBy(asc(webhooks.createdAt), asc(webhooks.webhookId));
  return { webhooks: await allToWire(deps, deps.db, rows) };
}

/** One webhook. @throws not_found */
export async function getWebhook(deps: Deps, project: ProjectRow, webhookId: string): Promise<Webhook> {
  return await toWire(deps, deps.db, await findWebhook(deps.db, project, webhookId));
}
