import { and, desc, eq, notInArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { apps, changeRequests, projects } from "../../../../db/schema/index.ts";
import type { ManifestApp } from "../../../contract/manifest/manifest.ts";
import type { Deps } from "../../../deps.ts";
import { type ProjectChange, publish } from "../../../events/publish.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { APPS_QUEUE } from "../../../jobs/places.ts";
import { readManifestAt } from "../../manifest/read-at.ts";
import { hashOf } from "../apply.ts";
import { appChange } from "../rows.ts";
import { previewLabelOf } from "../site.ts";
import { bases, hasPreviews, isPreviewed, isUnprepared } from "./wanted.ts";

/** Change requests per round, whose manifests are read at once; the next round takes the rest. */
const BATCH = 8;
/** How long a change request whose repository cannot be read is left out. */
const RETRY_MS = 30_000;

/** A change request, and the commit that its previews show. */
interface Head {
  crId: string;
  number: number;
  sha: string;
}

/**
 * Prepares previews for the new heads of open change requests: one row in `apps` for each app of the default branch's
 * manifest that has previews, with the entry that the app has in the head. Deploying it is the job of the row, as for an app.
 * @returns a round; it returns whether it has prepared any
 */
export function createPreparation(deps: Deps): () => Promise<boolean> {
  const failed = new Map<string, number>();
  return async () => {
    const now = performance.now();
    for (const [crId, at] of failed) if (now - at > RETRY_MS) failed.delete(crId);
    const found = await findUnprepared(deps.db, [...failed.keys()]);
    const results = await Promise.allSettled(
      found.map(({ project, ...head }) => prepare(deps, project, head)),
    );
    for (const [place, result] of results.entries()) {
      const crId = found[place]?.crId;
      if (result.status === "fulfilled" || crId === undefined) continue;
      failed.set(crId, now);
      deps.log.info({ cr: crId, err: result.reason }, "cannot prepare the previews of a change request yet");
    }
    return results.some(({ status }) => status === "fulfilled");
  };
}

async function findUnprepared(db: Db, without: string[]): Promise<(Head & { project: ProjectRow })[]> {
  const rows = await db
    .selectDistinctOn([changeRequests.updatedAt, changeRequests.crId], {
      crId: changeRequests.crId,
      number: changeRequests.number,
      sha: changeRequests.headCommitSha,
      project: projects,
    })
    .from(bases)
    .innerJoin(changeRequests, eq(changeRequests.projectId, bases.projectId))
    .innerJoin(projects, eq(projects.projectId, bases.projectId))
    .where(and(isUnprepared(db), without.length > 0 ? notInArray(changeRequests.crId, without) : undefined))
    .orderBy(desc(changeRequests.updatedAt), changeRequests.crId)
    .limit(BATCH);
  return rows.flatMap(({ sha, ...row }) => (sha === null ? [] : [{ ...row, sha }]));
}

/** Prepares the previews of one change request. @throws repo_unreachable and others of git's */
export async function prepare(deps: Deps, project: ProjectRow, head: Head): Promise<void> {
  const read = await readManifestAt(deps, project, head.sha);
  const entries = read?.manifest?.apps.filter(({ enabled }) => enabled) ?? [];
  await deps.db.transaction(async (tx) => {
    const isSame = and(
      eq(changeRequests.crId, head.crId),
      eq(changeRequests.headCommitSha, head.sha),
      isPreviewed,
    );
    // locked, so that it is not closed before its previews are there to be ended
    const [cr] = await tx
      .select({ crId: changeRequests.crId })
      .from(changeRequests)
      .where(isSame)
      .for("no key update");
    if (!cr) return;
    const wanted = await tx
      .select()
      .from(bases)
      .where(and(eq(bases.projectId, project.projectId), hasPreviews))
      .orderBy(bases.slug);
    const changes: ProjectChange[] = [];
    for (const base of wanted) {
      const entry = entries.find(({ slug }) => slug === base.slug) ?? null;
      changes.push(...(await write(deps, tx, project, head, base.entry, entry)));
    }
    await publish(tx, project.projectId, ...changes);
  });
  await deps.checkpoint("preview-prepared");
}

/** @param entry of the app in the head; null: the head has no such app */
async function write(
  deps: Deps,
  tx: Db,
  project: ProjectRow,
  { crId, number, sha }: Head,
  base: ManifestApp,
  entry: ManifestApp | null,
): Promise<ProjectChange[]> {
  const shown = entry ?? base;
  const presence = entry ? ("enabled" as const) : ("gone" as const);
  const isIt = and(eq(apps.crId, crId), eq(apps.slug, base.slug));
  const [before] = await tx.select().from(apps).where(isIt).for("update");
  if (before?.commit === sha) return [];
  const now = deps.clock();
  const values = { entry: shown, entryHash: hashOf(shown), commit: sha, presence, updatedAt: now };
  const label = previewLabelOf(base.slug, { crId, number }, project.slug);
  const [row] = before
    ? // a push starts a preview again that made room for another one
      await tx
        .update(apps)
        .set({ ...values, isStopped: false })
        .where(isIt)
        .returning()
    : await tx
        .insert(apps)
        .values({ projectId: project.projectId, slug: base.slug, crId, crNumber: number, label, ...values })
        .returning();
  if (!row) return [];
  await deps.jobs.enqueue(tx, APPS_QUEUE, row.appId);
  return entry || before?.presence === "enabled" ? [appChange(row, before ? "changed" : "created")] : [];
}
