import { asc, eq } from "drizzle-orm";
import { projectManifests, triggers } from "../../../db/schema/index.ts";
import type { TriggerDetail, TriggerList } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { findTrigger, firingToWire, lastFirings, toWire } from "./row.ts";

/** Firings that one trigger's answer tells. */
const FIRINGS_TOLD = 50;

/** The triggers of a project, in their file's order, and what is wrong with the manifest that they are of. */
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

/** One of them with its template and its last firings. @throws not_found */
export async function getTrigger(deps: Deps, project: ProjectRow, slug: string): Promise<TriggerDetail> {
  const row = await findTrigger(deps.db, project, slug);
  const firings = await lastFirings(deps.db, row, FIRINGS_TOLD);
  return {
    ...toWire(deps, row),
    prompt: row.prompt,
    secret_env: row.secretEnv,
    secrets: row.secrets,
    firings: firings.map(firingToWire),
  };
}
