import { createHash } from "node:crypto";
import { and, eq, isNull, ne, notInArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { apps } from "../../../db/schema/index.ts";
import { isPublicEntry } from "../../contract/manifest/apps.ts";
import type { ManifestApp } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectChange } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { APPS_QUEUE } from "../../jobs/places.ts";
import type { ManifestChange, ManifestFeature } from "../manifest/feature.ts";
import { labelOf } from "./site.ts";

/**
 * Records the apps of the default branch's manifest (`manifest/feature.ts`), and enqueues their jobs, which deploy and
 * stop them (`reconcile.ts`). While any entry has an error, apps without an entry are not removed: an invalid entry may
 * be theirs.
 */
export const applyApps: ManifestFeature = async (deps, change) => (tx, now) => write(deps, tx, change, now);

async function write(
  deps: Deps,
  tx: Db,
  { project, commit, manifest, errors }: ManifestChange,
  now: Date,
): Promise<ProjectChange[]> {
  const { projectId } = project;
  const before = await tx
    .select()
    .from(apps)
    .where(and(eq(apps.projectId, projectId), isNull(apps.crId)))
    .for("update");
  const changes: ProjectChange[] = [];
  for (const entry of manifest.apps) {
    const { slug } = entry;
    const known = before.find((row) => row.slug === slug);
    const entryHash = hashOf(entry);
    const presence = entry.enabled ? ("enabled" as const) : ("disabled" as const);
    const isChanged =
      known?.entryHash !== entryHash ||
      known.presence !== presence ||
      isPublicEntry(known.entry) !== isPublicEntry(entry) ||
      (known.entry.previews ?? false) !== (entry.previews ?? false);
    const values = { entry, entryHash, commit, presence, ...(isChanged && { updatedAt: now }) };
    const [row] = known
      ? await tx.update(apps).set(values).where(eq(apps.appId, known.appId)).returning()
      : await tx
          .insert(apps)
          .values({ projectId, slug, label: labelOf(slug, project.slug), ...values })
          .onConflictDoNothing()
          .returning();
    if (!row) continue;
    await deps.jobs.enqueue(tx, APPS_QUEUE, row.appId);
    if (isChanged) changes.push({ type: "app", id: slug, action: known ? "changed" : "created" });
  }
  const isValid = !errors.some(({ path, severity }) => severity === "error" && path.startsWith("apps"));
  if (isValid) changes.push(...(await markRemoved(deps, tx, project, manifest.apps, now)));
  return changes;
}

/** Marks the apps that are no longer in the manifest. */
async function markRemoved(
  deps: Deps,
  tx: Db,
  { projectId }: ProjectRow,
  entries: readonly ManifestApp[],
  now: Date,
): Promise<ProjectChange[]> {
  const slugs = entries.map(({ slug }) => slug);
  const gone = await tx
    .update(apps)
    .set({ presence: "gone", updatedAt: now })
    .where(
      and(
        eq(apps.projectId, projectId),
        isNull(apps.crId),
        ne(apps.presence, "gone"),
        slugs.length > 0 ? notInArray(apps.slug, slugs) : undefined,
      ),
    )
    .returning({ appId: apps.appId, slug: apps.slug });
  for (const { appId } of gone) await deps.jobs.enqueue(tx, APPS_QUEUE, appId);
  return gone.map(({ slug }) => ({ type: "app", id: slug, action: "changed" }));
}

/** Hashes an entry without `enabled`, `access` and `previews`: a change of those does not deploy an app. */
export function hashOf({ env, ...entry }: ManifestApp): string {
  const pairs = Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([
    entry.slug,
    entry.name,
    entry.rootPath,
    entry.build,
    entry.run && [entry.run.command, entry.run.port],
    entry.static?.dir ?? null,
    pairs,
    // absent in entries of earlier versions, whose hashes must not change
    ...(entry.health === null ? [] : [{ health: entry.health.path }]),
    ...(entry.run?.volume === undefined ? [] : [{ volume: entry.run.volume }]),
  ]);
  return createHash("sha256").update(text).digest("hex");
}
