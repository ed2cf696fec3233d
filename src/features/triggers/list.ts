import { asc, desc, eq } from "drizzle-orm";
import { projectManifests, triggerFirings, triggers } from "../../../db/schema/index.ts";
import type { TriggerDetail, TriggerList } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { findTrigger, firingToWire, toWire } from "./row.ts";

/** Firings that are returned with a trigger. */
const FIRINGS_MAX = 50;

/** The triggers of a project, in the order of the manifest, and the manifest's errors. */
export async function listTriggers(deps: Deps, { projectId }: ProjectRow): Promise<TriggerList> {
  const [rows, [manifest]] = await Promise.all([
    deps.db.select().from(triggers).where(eq(triggers.projectId, projectId)).orderBy(asc(triggers.position)),
    deps.db.select().from(projectManifests).where(eq(projectManifests.projectId, projectId)),
  ]);
  return {
    triggers: rows.map((row) => toWire(deps, row)),
    errors: manifest?.errors ?? [],
    commit: manifest?.commit ?? null,
    failure: manifest?.failure ?? null,
  };
}

/** One trigger with its template and its last firings. @throws not_found */
export async function getTrigger(deps: Deps, project: ProjectRow, slug: string): Promise<TriggerDetail> {
  const row = await findTrigger(deps.db, project, slug);
  const firings = await deps.db
    .select()
    .from(triggerFirings)
    .where(eq(triggerFirings.triggerId, row.triggerId))
    .orderBy(desc(triggerFirings.seq))
    .limit(FIRINGS_MAX);
  return {
    ...toWire(deps, row),
    prompt: row.prompt,
    secret_env: row.secretEnv,
    secrets: row.secrets,
    firings: firings.map(firingToWire),
  };
}
