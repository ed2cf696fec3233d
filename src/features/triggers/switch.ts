import { and, eq } from "drizzle-orm";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { MANIFEST_MAX_BYTES } from "../../contract/manifest/manifest.ts";
import { setTriggerEnabled } from "../../contract/manifest/set-trigger-enabled.ts";
import type { Switched } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { mergeChangeRequest } from "../change-requests/merge.ts";
import { svcIdentity } from "../change-requests/merge-commits.ts";
import { openChangeRequest } from "../change-requests/open.ts";
import { getChangeRequest } from "../change-requests/read.ts";
import { readCommit } from "../projects/commit.ts";
import { fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";

/** Digits of a commit in the branch name: enough to be unique in a project. */
const SHORT = 12;

/**
 * Enables or disables a trigger in the manifest of the default branch, through a change request (contract: Manifest):
 * it creates a branch with that one value changed, opens a change request, and merges it for a user token. If the merge
 * is refused (approvals, a protected branch), the change request stays open. Branch and commit are derived from the tip
 * and the new value, so that a call after an interruption continues it.
 * @throws not_found, and the errors of opening a change request
 */
export function switchTrigger(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  enabled: boolean,
): Promise<Switched> {
  // a concurrent call for the same trigger finds the change request of the first
  const key = `${project.mirrorId} trigger ${slug}`;
  return deps.mutex.run(key, () => switchLocked(deps, caller, project, { slug, enabled }));
}

async function switchLocked(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { slug, enabled }: { slug: string; enabled: boolean },
): Promise<Switched> {
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  const { tip, before, after } = await edit(deps, project, listing, { slug, enabled });
  if (before === after) return { slug, enabled, status: "unchanged", reason: null, change_request: null };
  const title = `${enabled ? "Enable" : "Disable"} trigger ${slug}`;
  const branch = `svc/${enabled ? "enable" : "disable"}-${slug}-${tip.slice(0, SHORT)}`;
  await createBranch(deps, project, listing, { branch, tip, message: title, text: after });
  const opened = await findOpen(deps, project, branch);
  const cr =
    opened ??
    (await openChangeRequest(deps, caller, project, {
      title,
      description: `Sets \`enabled = ${enabled}\` of the trigger \`${slug}\` in ${project.manifestPath}.`,
      head_ref: branch,
      ...(caller.kind === "project" && caller.sessionId !== null && { session_id: caller.sessionId }),
    }));
  if (caller.kind === "project") {
    const reason = `A user must merge it: svc cr merge ${cr.number}`;
    return { slug, enabled, status: "open", reason, change_request: cr };
  }
  return { slug, enabled, ...(await merge(deps, caller, project, cr)) };
}

/** The manifest at the default branch's tip, before and after the edit. */
async function edit(
  deps: Deps,
  project: ProjectRow,
  { tips }: Branches,
  { slug, enabled }: { slug: string; enabled: boolean },
): Promise<{ tip: string; before: string; after: string }> {
  const repo = repositoryOf(deps, project);
  const tip = tips.get(project.defaultBranch);
  const isFetched = tip !== undefined && (await fetchCommits(deps, repo, [tip]));
  const file = isFetched
    ? await deps.git.readFile(repo, tip, project.manifestPath, MANIFEST_MAX_BYTES)
    : null;
  const before = file && decode(file);
  const after = before && setTriggerEnabled(before, slug, enabled);
  if (tip !== undefined && before !== null && after !== null) return { tip, before, after };
  throw new SvcError(
    "not_found",
    `${project.manifestPath} on the branch "${project.defaultBranch}" has no valid trigger "${slug}". Check it with: svc validate`,
  );
}

/** Keeps every byte, also a byte order mark. Null: not UTF-8. */
function decode(file: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file);
  } catch {
    return null;
  }
}

interface Edit {
  branch: string;
  tip: string;
  message: string;
  text: string;
}

/** Creates the branch, unless it exists at the same commit. */
async function createBranch(
  deps: Deps,
  project: ProjectRow,
  { tips }: Branches,
  { branch, tip, message, text }: Edit,
): Promise<void> {
  const repo = repositoryOf(deps, project);
  const before = await readCommit(deps, repo, tip);
  const commit = await deps.git.replaceFiles(repo, {
    commit: tip,
    files: [{ path: project.manifestPath, bytes: new TextEncoder().encode(text) }],
    message,
    identity: svcIdentity(deps),
    // the tip's date, so that a retry makes the same commit
    date: before?.committer.date ?? new Date(0),
  });
  if (tips.get(branch) === commit) return;
  const outcome = await deps.git.push(repo, { branch, from: null, to: commit });
  if (outcome.outcome === "moved") return;
  if (outcome.outcome === "rejected")
    throw new SvcError("push_rejected", `The git host refused the branch "${branch}": ${outcome.reason}`);
  const now = await deps.git.listBranches(repo, LISTING_MS);
  if (now.tips.get(branch) === commit) return;
  if (outcome.outcome === "unknown")
    throw new SvcError(
      "repo_unreachable",
      `The git host did not confirm the push of the branch "${branch}". Try again.`,
    );
  throw new SvcError(
    "branch_exists",
    `The branch "${branch}" already exists. Delete it, or merge it, and try again.`,
  );
}

async function findOpen(deps: Deps, project: ProjectRow, branch: string): Promise<ChangeRequest | null> {
  const [row] = await deps.db
    .select({ number: changeRequests.number })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, project.projectId),
        eq(changeRequests.headRef, branch),
        eq(changeRequests.baseRef, project.defaultBranch),
        eq(changeRequests.status, "open"),
      ),
    );
  return row ? (await getChangeRequest(deps, project, String(row.number))).change_request : null;
}

const QUEUED = "It is in the merge queue, and is merged once the checks of the merged result pass.";

/** Merges the change request. If that is refused, it stays open, and the result has the reason. */
async function merge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: ChangeRequest,
): Promise<Pick<Switched, "status" | "reason" | "change_request">> {
  try {
    const { merge: done, ...merged } = await mergeChangeRequest(deps, caller, project, cr.cr_id, {});
    if (!done) return { status: "open", reason: QUEUED, change_request: merged };
    return { status: "merged", reason: null, change_request: merged };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { change_request: now } = await getChangeRequest(deps, project, cr.cr_id);
    // merged by a concurrent call
    if (now.status === "merged") return { status: "merged", reason: null, change_request: now };
    return { status: "open", reason: error.message, change_request: now };
  }
}
