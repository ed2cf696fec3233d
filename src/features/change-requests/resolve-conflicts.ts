import type { SentToSession } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { askSession, requireWork } from "./ask-session.ts";
import { previewMerge } from "./preview.ts";
import { DATA, dataLines, nameOf, shellWord, whenDone } from "./prompt-text.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/** Files that a prompt names: git tells the agent of the others. */
const FILES_MAX = 300;

/**
 * Asks the agent that works on an open change request to resolve what conflicts with the base branch as it is now.
 * @throws not_open, no_conflicts, unrelated_histories, branch_missing, repo_unreachable, merge_engine_failed, and what
 *   `askSession` throws
 */
export async function resolveConflicts(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<SentToSession> {
  const row = await findChangeRequest(deps.db, project, name);
  requireWork(row);
  const { can_merge, merge_base, conflicts } = await previewMerge(deps, project, row.crId);
  if (can_merge)
    throw new SvcError(
      "no_conflicts",
      `Change request #${row.number} has no conflicts: it can be merged as it is.`,
    );
  if (merge_base === null)
    throw new SvcError(
      "unrelated_histories",
      "The two branches have no commit in common: there is nothing that an agent could merge.",
    );
  return await askSession(deps, caller, project, row, (isNew) => textOf(row, conflicts, isNew));
}

function textOf(row: CrRow, conflicts: readonly string[], isNew: boolean): string {
  const { lines, left } = dataLines(conflicts.slice(0, FILES_MAX));
  const more = left + Math.max(conflicts.length - FILES_MAX, 0);
  const rest = more > 0 ? `\nand ${more} more, which git names.` : "";
  const base = shellWord(row.baseRef);
  return `The branch of ${nameOf(row)} cannot be merged: both sides have changed the same places. Resolve that: git fetch origin ${base} && git merge FETCH_HEAD. Keep what both sides mean, and run the project's tests.

${DATA} These are the files that conflict.

${lines}${rest}

${whenDone(row, isNew)}`;
}
