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
import { openChangeRequest } from "../change-requests/open.ts";
import { getChangeRequest } from "../change-requests/read.ts";
import { fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";

/** Digits of a commit in a branch's name: enough to tell a project's commits apart. */
const SHORT = 12;

/**
 * Turns a trigger on or off in the manifest of the default branch, which nobody writes on the side (contract: Manifest):
 * a branch with that one value changed, a change request, and, for a user token, its merge. Where the merge is not to be
 * had (approvals, a protected branch), the change request stays open. Branch and commit follow from the tip and from what
 * is wanted, so that a call that was cut off is taken up where it was left.
 * @throws not_found, and what opening a change request throws
 */
export function switchTrigger(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  enabled: boolean,
): Promise<Switched> {
  // who asks for the same at once finds what the first has made
  const key = `${project.mirrorId} trigger ${slug}`;
  return deps.mutex.run(key, () => switchNow(deps, caller, project, { slug, enabled }));
}

async function switchNow(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { slug, enabled }: { slug: string; enabled: boolean },
): Promise<Switched> {
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  const { tip, before, after } = await edited(deps, project, listing, { slug, enabled });
  if (before === after) return { slug, enabled, status: "unchanged", reason: null, change_request: null };
  const title = `${enabled ? "Enable" : "Disable"} trigger ${slug}`;
  const branch = `svc/${enabled ? "enable" : "disable"}-${slug}-${tip.slice(0, SHORT)}`;
  await makeBranch(deps, project, listing, { branch, tip, message: title, text: after });
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
    const reason = `A person merges it: svc cr merge ${cr.number}`;
    return { slug, enabled, status: "open", reason, change_request: cr };
  }
  return { slug, enabled, ...(await merge(deps, caller, project, cr)) };
}

/** The manifest at the default branch's tip, as it is and as it is wanted. */
async function edited(
  deps: Deps,
  project: ProjectRow,
  { tips }: Branches,
  { slug, enabled }: { slug: string; enabled: boolean },
): Promise<{ tip: string; before: string; after: string }> {
  const repo = repositoryOf(deps, project);
  const tip = tips.get(project.defaultBranch);
  const isThere = tip !== undefined && (await fetchCommits(deps, repo, [tip]));
  const file = isThere ? await deps.git.readFile(repo, tip, project.manifestPath, MANIFEST_MAX_BYTES) : null;
  const before = file && decode(file);
  const after = before && setTriggerEnabled(before, slug, enabled);
  if (tip !== undefined && before !== null && after !== null) return { tip, before, after };
  throw new SvcError(
    "not_found",
    `${project.manifestPath} on the branch "${project.defaultBranch}" has no trigger "${slug}" without an error. Look at it with: svc validate`,
  );
}

/** Every byte is kept: a byte order mark too. Null: it is not UTF-8. */
function decode(file: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(file);
  } catch {
    return null;
  }
}

interface Wanted {
  branch: string;
  tip: string;
  message: string;
  text: string;
}

/** One that is there already, at the same commit, is as good as made. */
async function makeBranch(
  deps: Deps,
  project: ProjectRow,
  { tips }: Branches,
  { branch, tip, message, text }: Wanted,
): Promise<void> {
  const repo = repositoryOf(deps, project);
  const { commits } = await deps.git.log(repo, { commit: tip, path: new Uint8Array(), skip: 0, limit: 1 });
  const commit = await deps.git.replaceFile(repo, {
    commit: tip,
    path: project.manifestPath,
    bytes: new TextEncoder().encode(text),
    message,
    identity: { name: "svc", email: `no-reply@${deps.config.noReplyHost}` },
    // the tip's, so that the commit is the same whenever it is made
    date: commits[0]?.committer.date ?? new Date(0),
  });
  if (tips.get(branch) === commit) return;
  const outcome = await deps.git.push(repo, { branch, from: null, to: commit });
  if (outcome.outcome === "moved") return;
  if (outcome.outcome === "rejected")
    throw new SvcError("push_rejected", `The git host refused the branch "${branch}": ${outcome.reason}`);
  const now = await deps.git.listBranches(repo, LISTING_MS);
  if (now.tips.get(branch) === commit) return;
  if (outcome.outcome === "unknown")
    throw new SvcError("repo_unreachable", "The git host did not say whether the change arrived. Try again.");
  throw new SvcError("branch_exists", `The branch "${branch}" is in the way: delete it, or merge it.`);
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

/** What keeps a change request from being merged is told: it stays open for whoever can. */
async function merge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: ChangeRequest,
): Promise<Pick<Switched, "status" | "reason" | "change_request">> {
  try {
    const { merge: _, ...merged } = await mergeChangeRequest(deps, caller, project, cr.cr_id, {});
    return { status: "merged", reason: null, change_request: merged };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { change_request: now } = await getChangeRequest(deps, project, cr.cr_id);
    // by the same call, made twice
    if (now.status === "merged") return { status: "merged", reason: null, change_request: now };
    return { status: "open", reason: error.message, change_request: now };
  }
}
