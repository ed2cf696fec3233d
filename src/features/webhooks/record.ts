import { randomUUID } from "node:crypto";
import { and, arrayContains, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projects, webhookDeliveries, webhooks } from "../../../db/schema/index.ts";
import type { WebhookEvent } from "../../contract/webhook-event.ts";
import { EVENTS_CHANNEL } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { bounded } from "./bounded.ts";

/** Deliveries of one webhook that wait: a day of a busy project. Further ones are logged as failed. */
export const PENDING_MAX = 1_000;

/** The project of an event, as the event shows it. */
export type EventProject = Pick<ProjectRow, "projectId" | "slug" | "name">;

/**
 * Records an event for the project's webhooks that subscribe to it, in the transaction of what it reports. Call it before
 * `publish`, which must be last. A project without such webhooks costs one query.
 * @param data builds what the event is about, as the API shows it; called only if a webhook wants it
 */
export async function recordWebhookEvent(
  tx: Db,
  projectId: string,
  { type, at }: { type: WebhookEvent; at: Date },
  data: () => Promise<Record<string, unknown>>,
): Promise<void> {
  const found = await tx
    .select({
      webhookId: webhooks.webhookId,
      projectId: projects.projectId,
      slug: projects.slug,
      name: projects.name,
    })
    .from(webhooks)
    .innerJoin(projects, eq(projects.projectId, webhooks.projectId))
    .where(and(eq(webhooks.projectId, projectId), webhooks.isEnabled, arrayContains(webhooks.events, [type])))
    .orderBy(webhooks.webhookId)
    // a webhook that is being deleted is either not found or stays until the commit
    .for("key share", { of: webhooks });
  const [project] = found;
  if (!project) return;
  const ids = found.map(({ webhookId }) => webhookId);
  await addDeliveries(tx, ids, { type, at, payload: payloadOf(project, { type, at }, await data()) });
}

/** The JSON of an event. */
export function payloadOf(
  { projectId, slug, name }: EventProject,
  { type, at }: { type: string; at: Date },
  data: Record<string, unknown>,
): string {
  const { value, truncated } = bounded(data);
  return JSON.stringify({
    type,
    timestamp: at.toISOString(),
    data: {
      project: { project_id: projectId, slug, name },
      ...value,
      ...(truncated.length > 0 && { truncated }),
    },
  });
}

/**
 * Queues an event for webhooks whose rows are locked, and wakes the servers on commit.
 * @param event of a redelivery: the id of the first delivery
 */
export async function addDeliveries(
  tx: Db,
  webhookIds: readonly string[],
  event: { type: string; at: Date; payload: string; eventId?: string },
): Promise<(typeof webhookDeliveries.$inferSelect)[]> {
  const { type, at, payload, eventId = randomUUID() } = event;
  const isRedelivery = event.eventId !== undefined;
  const full = await fullQueues(tx, webhookIds);
  const rows = await tx
    .insert(webhookDeliveries)
    .values(
      webhookIds.map((webhookId) => ({
        ...{ webhookId, eventId, type, payload, isRedelivery, createdAt: at },
        ...(full.has(webhookId) && { status: "failed" as const, error: FULL }),
      })),
    )
    .returning();
  await wakeWorkers(tx);
  return rows;
}

const FULL = `It was not sent: ${PENDING_MAX} deliveries of this webhook were waiting, which is the limit. You can redeliver it.`;

async function fullQueues(tx: Db, webhookIds: readonly string[]): Promise<Set<string>> {
  const full = new Set<string>();
  for (const webhookId of webhookIds) {
    const pending = and(eq(webhookDeliveries.webhookId, webhookId), eq(webhookDeliveries.status, "pending"));
    if ((await tx.$count(webhookDeliveries, pending)) >= PENDING_MAX) full.add(webhookId);
  }
  return full;
}

/** Wakes the workers of all servers on commit. */
export async function wakeWorkers(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_notify(${EVENTS_CHANNEL}, ${JSON.stringify({ type: WEBHOOK_WAKER })})`);
}

/** The name in `changes` under which new deliveries are announced. */
export const WEBHOOK_WAKER = "webhook";
