import { and, inArray, isNull } from "drizzle-orm";
import { changeRequestComments } from "../../../../db/schema/index.ts";
import type { AppliedSuggestions, ApplySuggestionsBody, Comment } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { COMMIT_MESSAGE_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import type { ReplacedFile } from "../../../git/git.ts";
import { storable } from "../../../http/text.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { recordPushes } from "../../timeline/pushes.ts";
import { byOf, recordTimeline } from "../../timeline/record.ts";
import { pushHead, writableTips } from "../add-to-head.ts";
import { coAuthor, personOf, plain } from "../merge-commits.ts";
import { refresh } from "../refresh.ts";
import { type CrRow, findChangeRequest } from "../row.ts";
import { lockComments } from "./change.ts";
import { commentChange, toWireOf } from "./row.ts";
import { editFiles, readSuggestion, type Suggestion } from "./suggested-edits.ts";

/**
 * Commits the suggestions of comments to the head branch in one commit, as the caller, and resolves their threads: all of
 * them or none. The push is a compare-and-swap from the head that has the lines.
 * @throws forbidden, not_found, not_open, validation_failed, suggestion_outdated, head_moved, branch_missing,
 *   push_rejected, repo_unreachable, merge_engine_failed
 */
export async function applySuggestions(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  crId: string,
  { comment_ids, head_commit_sha: seen, message }: ApplySuggestionsBody,
): Promise<AppliedSuggestions> {
  requirePerson(caller);
  const given = message && storable("message", message, COMMIT_MESSAGE_MAX_BYTES);
  const cr = await findChangeRequest(deps.db, project, crId);
  const suggestions: Suggestion[] = [];
  for (const id of new Set(comment_ids.map((each) => each.toLowerCase())))
    suggestions.push(await readSuggestion(deps.db, cr, id));
  const tips = await writableTips(deps, project, cr, seen);
  const files = await editFiles(deps, project, tips, suggestions);
  const commit = await writeCommit(deps, caller, project, cr, { head: tips.head, files, suggestions, given });
  await pushHead(deps, project, cr, { from: tips.head, to: commit });
  const comments = await resolve(deps, caller, project, cr, { suggestions, commit });
  await refresh(deps, project, [cr]);
  return { commit_sha: commit, comments };
}

function requirePerson(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "Only people apply suggestions. Make the change in the branch, commit it, and reply to the comment.",
  );
}

interface Commit {
  head: string;
  files: readonly ReplacedFile[];
  suggestions: readonly Suggestion[];
  /** The caller's message. */
  given: string | undefined;
}

/** With the caller as its author, and the authors of the suggestions as co-authors. */
async function writeCommit(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { number }: CrRow,
  { head, files, suggestions, given }: Commit,
): Promise<string> {
  const subject =
    suggestions.length === 1
      ? `Apply a suggestion to ${plain(files[0]?.path ?? "")} (#${number})`
      : `Apply ${suggestions.length} suggestions (#${number})`;
  const others = new Set(suggestions.map(({ comment }) => comment.createdBy));
  others.delete(caller.userId);
  const trailers: string[] = [];
  for (const userId of others) trailers.push(coAuthor(await personOf(deps, { userId })));
  const words = given?.trim() || subject;
  return await deps.git.replaceFiles(repositoryOf(deps, project), {
    ...{ commit: head, files },
    message: trailers.length === 0 ? words : `${words}\n\n${trailers.join("\n")}`,
    identity: await personOf(deps, caller),
    date: deps.clock(),
  });
}

/** The suggestions are pushed by then: a thread that is gone or resolved stays so. */
async function resolve(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: CrRow,
  { suggestions, commit }: { suggestions: readonly Suggestion[]; commit: string },
): Promise<Comment[]> {
  const threads = [...new Map(suggestions.map(({ thread }) => [thread.commentId, thread])).values()];
  return await deps.db.transaction(async (tx) => {
    await lockComments(tx, cr);
    const resolved = await tx
      .update(changeRequestComments)
      .set({ resolvedAt: deps.clock(), resolvedBy: caller.userId })
      .where(
        and(
          inArray(
            changeRequestComments.commentId,
            threads.map(({ commentId }) => commentId),
          ),
          isNull(changeRequestComments.resolvedAt),
        ),
      )
      .returning();
    const by = byOf(caller);
    await recordPushes(tx, project, by, [{ branch: cr.headRef, commit }]);
    await recordTimeline(tx, { by, at: deps.clock() }, [
      ...suggestions.map(({ comment }) => ({
        ...({ crId: cr.crId, event: "suggestion_applied" } as const),
        ...{ comment_id: comment.commentId, commit_sha: commit },
      })),
      ...resolved.map(({ commentId }) => ({
        ...({ crId: cr.crId, event: "thread_resolved" } as const),
        comment_id: commentId,
      })),
    ]);
    const branch = { type: "branch", id: cr.headRef, action: "changed" } as const;
    await publish(tx, project.projectId, branch, ...resolved.map((row) => commentChange(row, cr, "changed")));
    const now = new Map(resolved.map((row) => [row.commentId, row]));
    return await Promise.all(threads.map((thread) => toWireOf(tx, now.get(thread.commentId) ?? thread)));
  });
}
