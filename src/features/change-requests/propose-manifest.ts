import { and, eq } from "drizzle-orm";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { MANIFEST_MAX_BYTES } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { readCommit } from "../projects/commit.ts";
import { fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { svcIdentity } from "./merge-commits.ts";
import { openChangeRequest } from "./open.ts";
import { getChangeRequest } from "./read.ts";

/** Digits of a commit in the branch name: enough to be unique in a project. */
const SHORT = 12;

/** A change of the manifest on the default branch. */
export interface ManifestProposal {
  /** The beginning of the branch's name, to which the tip is added. */
  branch: string;
  title: string;
  description: string;
  /**
   * @param text null: the default branch has no such file, or it is not UTF-8
   * @returns null when it cannot be edited
   */
  edit(text: string | null): string | null;
  /** The error when it cannot be edited. */
  fault: SvcError;
}

/**
 * Changes the manifest of the default branch on a new branch, and opens a change request for it. Branch and commit are
 * derived from the tip and the change, so that a call after an interruption continues it. Concurrent calls for the same
 * change must be serialized.
 * @returns null if the change is no change
 * @throws the fault, and the errors of opening a change request
 */
export async function proposeManifest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  proposal: ManifestProposal,
): Promise<ChangeRequest | null> {
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  const { tip, before, after } = await edit(deps, project, listing, proposal);
  if (before === after) return null;
  const { title, description } = proposal;
  const branch = `${proposal.branch}-${tip.slice(0, SHORT)}`;
  await createBranch(deps, project, listing, { branch, tip, message: title, text: after });
  return (
    (await findOpen(deps, project, branch)) ??
    (await openChangeRequest(deps, caller, project, {
      title,
      description,
      head_ref: branch,
      ...(caller.kind === "project" && caller.sessionId !== null && { session_id: caller.sessionId }),
    }))
  );
}

/** The manifest at the default branch's tip, before and after the edit. */
async function edit(
  deps: Deps,
  project: ProjectRow,
  { tips }: Branches,
  proposal: ManifestProposal,
): Promise<{ tip: string; before: string | null; after: string }> {
  const repo = repositoryOf(deps, project);
  const tip = tips.get(project.defaultBranch);
  if (tip === undefined || !(await fetchCommits(deps, repo, [tip]))) throw proposal.fault;
  const file = await deps.git.readFile(repo, tip, project.manifestPath, MANIFEST_MAX_BYTES);
  const before = file && decode(file);
  const after = proposal.edit(before);
  if (after === null) throw proposal.fault;
  return { tip, before, after };
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
