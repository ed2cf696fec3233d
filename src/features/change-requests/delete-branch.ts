import { and, eq, inArray, or } from "drizzle-orm";
import { changeRequests, projectSessions, runs } from "../../../db/schema/index.ts";
import type { HeadBranch, MergedChangeRequest } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { LIVE_STATUSES } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { readProtection } from "../projects/protection.ts";
import { repositoryOf } from "../projects/repository.ts";
import { type By, recordTimeline } from "../timeline/record.ts";
import { isProtected } from "./stack.ts";

/** As at the git gateway, agents and scripts delete no branches. Checked before the merge. @throws forbidden */
export function requireDeleter(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "The token of an agent or script cannot delete branches, so nothing was merged. Merge without delete_branch; a person can delete the branch with their own token.",
  );
}

/**
 * Deletes the head branch of a change request that was just merged. The merge stands whatever comes of it, so nothing is
 * thrown. A crash before the push leaves the branch.
 */
export async function deleteHeadBranch(
  deps: Deps,
  project: ProjectRow,
  merged: Deleted,
): Promise<HeadBranch> {
  try {
    const reason = await reasonToKeep(deps, project, merged);
    return reason === null ? { deleted: true, reason } : { deleted: false, reason };
  } catch (error) {
    if (error instanceof SvcError) return { deleted: false, reason: error.message };
    deps.log.error({ err: error, cr: merged.number }, "cannot delete the branch of a merged change request");
    return { deleted: false, reason: `"${merged.head_ref}" could not be deleted.` };
  }
}

/** A branch to delete. */
interface Deleted extends Pick<MergedChangeRequest, "head_ref" | "head_commit_sha" | "number"> {
  /** The merged change request that was asked to delete it, and by whom; null: it is none of a merged one. */
  merged: { crId: string; by: By } | null;
}

/** Deletes the branch, only from the commit that was merged. @returns null when it is gone */
async function reasonToKeep(
  deps: Deps,
  project: ProjectRow,
  { head_ref: branch, head_commit_sha: from, merged }: Deleted,
): Promise<string | null> {
  const repo = repositoryOf(deps, project);
  const listing = await deps.git.listBranches(repo, LISTING_MS);
  const tip = listing.tips.get(branch);
  if (tip === undefined) return null;
  if (tip !== from) return moved(branch);
  // stores the rules of the base after the merge
  await readProtection(deps, project, listing);
  if (await isProtected(deps.db, project, branch)) return `"${branch}" is protected.`;
  if ([...listing.symbolic].flat().includes(branch)) return `"${branch}" is an alias of another branch.`;
  const used = (await usedBySession(deps, project, branch)) ?? (await usedByOther(deps, project, branch));
  if (used !== null) return used;
  const outcome = await deps.git.push(repo, { branch, from, to: null });
  if (outcome.outcome === "rejected") return `The git host refused to delete "${branch}": ${outcome.reason}`;
  if (outcome.outcome !== "moved") {
    const now = (await deps.git.listBranches(repo, LISTING_MS)).tips.get(branch);
    if (now === from) return `The git host did not confirm that it deleted "${branch}".`;
    if (now !== undefined) return moved(branch);
  }
  await announce(deps, project, branch, merged);
  return null;
}

const moved = (branch: string): string => `"${branch}" has moved since the merge.`;

async function usedBySession(
  { db }: Deps,
  { projectId }: ProjectRow,
  branch: string,
): Promise<string | null> {
  const [session] = await db
    .select({ id: projectSessions.sessionId })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(
      and(
        eq(projectSessions.projectId, projectId),
        eq(projectSessions.branchName, branch),
        inArray(runs.status, [...LIVE_STATUSES]),
      ),
    )
    .limit(1);
  return session ? `The session ${session.id} works on "${branch}". Stop it first.` : null;
}

async function usedByOther({ db }: Deps, { projectId }: ProjectRow, branch: string): Promise<string | null> {
  const { number, headRef, baseRef, status } = changeRequests;
  const [other] = await db
    .select({ number })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, projectId),
        eq(status, "open"),
        or(eq(headRef, branch), eq(baseRef, branch)),
      ),
    )
    .limit(1);
  return other ? `Change request #${other.number} is open and uses "${branch}".` : null;
}

/** The branch is gone by then, so a failure is only logged. */
async function announce(
  deps: Deps,
  { projectId }: ProjectRow,
  branch: string,
  merged: Deleted["merged"],
): Promise<void> {
  await deps.db
    .transaction(async (tx) => {
      const event = { event: "head_ref_deleted", branch } as const;
      if (merged) {
        const { crId, by } = merged;
        await recordTimeline(tx, { by, at: deps.clock() }, [{ crId, ...event }]);
      }
      await publish(tx, projectId, { type: "branch", id: branch, action: "deleted" });
    })
    .catch((error: unknown) =>
      deps.log.warn({ project: projectId, err: error }, "cannot publish the deletion of a branch"),
    );
}
