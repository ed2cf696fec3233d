import { and, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { checks, projectManifests } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { ManifestCheck } from "../../../contract/manifest/manifest.ts";
import type { Deps } from "../../../deps.ts";
import { shorten } from "../../../http/text.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { deleteRun } from "./end.ts";
import { type CheckRow, changeCheck } from "./rows.ts";

/** A commit at the end of a branch. */
export interface Tip {
  projectId: string;
  sha: string;
  headRef: string;
}

/**
 * Adds a check of a commit to the queue. One that has ended is run again, as its next attempt, if `again` says so; its log
 * is deleted.
 * @param tx has the project locked
 * @returns the check if it was added
 */
export async function putInQueue(
  deps: Deps,
  tx: Db,
  { projectId, sha, headRef }: Tip,
  entry: ManifestCheck,
  again: (row: CheckRow) => boolean,
): Promise<CheckRow | null> {
  const { name } = entry;
  const createdAt = deps.clock();
  const [added] = await tx
    .insert(checks)
    .values({ projectId, sha, name, entry, headRef, createdAt })
    .onConflictDoNothing()
    .returning();
  if (added) return added;
  const isIt = and(eq(checks.projectId, projectId), eq(checks.sha, sha), eq(checks.name, name));
  const [row] = await tx.select().from(checks).where(isIt);
  if (!row || row.endedAt === null || !again(row)) return null;
  await deleteRun(deps, tx, row);
  const fresh = { state: "queued", description: null, runId: null, startedAt: null, endedAt: null } as const;
  const [queued] = await tx
    .update(checks)
    .set({ ...fresh, entry, headRef, createdAt, attempt: row.attempt + 1 })
    .where(isIt)
    .returning();
  return queued ?? null;
}

/**
 * Runs a check again, as the default branch defines it now. One that is queued or running is left as it is.
 * @throws not_found when the manifest has no such check
 */
export async function rerunCheck(deps: Deps, project: ProjectRow, tip: Tip, name: string): Promise<CheckRow> {
  const { projectId } = project;
  const [manifest] = await deps.db
    .select({ entries: projectManifests.checks })
    .from(projectManifests)
    .where(eq(projectManifests.projectId, projectId));
  const entry = manifest?.entries.find((each) => each.name === name);
  if (!entry)
    throw new SvcError(
      "not_found",
      `svc does not run a check "${shorten(name)}" in this project. Add it to ${project.manifestPath} on the branch ${project.defaultBranch}: [[checks]] with name and command.`,
    );
  await changeCheck(deps, tip, (tx) => putInQueue(deps, tx, tip, entry, () => true));
  deps.changes.notify("checks");
  const [row] = await deps.db
    .select()
    .from(checks)
    .where(and(eq(checks.projectId, projectId), eq(checks.sha, tip.sha), eq(checks.name, name)));
  if (!row) throw new SvcError("not_found", "The check was deleted while this request ran.");
  return row;
}
