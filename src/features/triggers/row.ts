import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { type triggerFirings, triggers } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Firing, Trigger } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { shorten } from "../../http/text.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

export type TriggerRow = typeof triggers.$inferSelect;
export type FiringRow = typeof triggerFirings.$inferSelect;

/** @throws not_found */
export async function findTrigger(db: Db, { projectId }: ProjectRow, slug: string): Promise<TriggerRow> {
  const [row] = slug.includes("\0")
    ? []
    : await db
        .select()
        .from(triggers)
        .where(and(eq(triggers.projectId, projectId), eq(triggers.slug, slug)));
  if (row) return row;
  throw new SvcError(
    "not_found",
    `Trigger "${shorten(slug)}" not found in the manifest on the default branch. List triggers with: svc triggers ls`,
  );
}

export function toWire({ config }: Pick<Deps, "config">, row: TriggerRow): Trigger {
  return {
    slug: row.slug,
    name: row.name,
    type: row.type,
    agent: row.agent,
    model: row.model,
    enabled: row.enabled,
    cron: row.cron,
    timezone: row.timezone,
    next_fire_at: row.nextFireAt?.toISOString() ?? null,
    last_fired_at: row.lastFiredAt?.toISOString() ?? null,
    last_error: row.problem ?? row.lastError,
    webhook_url:
      row.type === "webhook" ? `${config.publicUrl}/v1/webhooks/projects/${row.projectId}/${row.slug}` : null,
  };
}

export function firingToWire(row: FiringRow): Firing {
  return {
    firing_id: row.firingId,
    source: row.source,
    state: row.state,
    due_at: row.dueAt.toISOString(),
    due_until: row.dueUntil?.toISOString() ?? null,
    session_id: row.state === "waiting" || row.state === "fired" ? row.sessionId : null,
    error: row.error,
    created_at: row.createdAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
  };
}
