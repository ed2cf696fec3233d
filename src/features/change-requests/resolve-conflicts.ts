import type { SentToSession } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { previewMerge } from "./preview.ts";
import { promptSession, requireUnmerged } from "./prompt-session.ts";
import { DATA, nameOf, quoteAll, shellWord, whenDone } from "./prompt-text.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/** Files that a prompt names; git reports the others to the agent. */
const FILES_MAX = 300;

/**
 * Prompts the agent that works on an open change request to resolve the conflicts with the current base branch.
 * @throws not_open, no_conflicts, unrelated_histories, branch_missing, repo_unreachable, merge_engine_failed, and what
 *   `promptSession` throws
 */
export async function resolveConflicts(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<SentToSession> {
  const row = await findChangeRequest(deps.db, project, name);
  requireUnmerged(row);
  const { can_merge, merge_base, conflicts } = await previewMerge(deps, project, row.crId);
  if (can_merge)
    throw new SvcError(
      "no_conflicts",
      `Change request #${row.number} has no conflicts and can be merged: svc cr merge ${row.number}`,
    );
  if (merge_base === null)
    throw new SvcError(
      "unrelated_histories",
      `"${row.baseRef}" and "${row.headRef}" have no commit in common, so an agent cannot merge them. Create the branch anew from "${row.baseRef}".`,
    );
  return await promptSession(deps, caller, project, row, (isNew) => textOf(row, conflicts, isNew));
}

function textOf(row: CrRow, conflicts: readonly string[], isNew: boolean): string {
  const { quoted, left } = quoteAll(conflicts.slice(0, FILES_MAX), "\n");
  const more = left + Math.max(conflicts.length - FILES_MAX, 0);
  const rest = more > 0 ? `\nand ${more} more, which git lists.` : "";
  const base = shellWord(row.baseRef);
  return `The branch of ${nameOf(row)} cannot be merged: it conflicts with ${base}. Resolve the conflicts: git fetch origin ${base} && git merge FETCH_HEAD. Preserve the intent of both sides, and run the project's tests.

${DATA} These are the files that conflict.

${quoted}${rest}

${whenDone(row, isNew)}`;
}
