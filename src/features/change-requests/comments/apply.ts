import { and, eq, isNull } from "drizzle-orm";
import { changeRequestComments } from "../../../../db/schema/index.ts";
import type { AppliedSuggestion } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { CONTENT_MAX_BYTES } from "../../../contract/limits.ts";
import { suggestionOf } from "../../../contract/suggestion.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import type { Repository } from "../../../git/git.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { LISTING_MS } from "../../projects/fetch.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { recordPushes } from "../../timeline/pushes.ts";
import { byOf, recordTimeline } from "../../timeline/record.ts";
import { coAuthor, personOf, plain } from "../merge-commits.ts";
import { headMoved, requireHead } from "../merge-intent.ts";
import { requireCommits } from "../preview.ts";
import { refresh } from "../refresh.ts";
import { type CrRow, findChangeRequest } from "../row.ts";
import { isProtected } from "../stack.ts";
import { tipOf } from "../tips.ts";
import type { CommentNames } from "./change.ts";
import { placeAt } from "./place.ts";
import { type CommentRow, commentChange, findComment, toWireOf } from "./row.ts";

/**
 * Commits the suggestion of a comment to the head branch, as the caller, and resolves its thread. The push is a
 * compare-and-swap from the head that has the lines.
 * @param seen the head commit that was reviewed
 * @throws forbidden, not_found, not_open, validation_failed, suggestion_outdated, head_moved, branch_missing,
 *   push_rejected, repo_unreachable, merge_engine_failed
 */
export async function applySuggestion(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  names: CommentNames,
  seen: string | undefined,
): Promise<AppliedSuggestion> {
  requirePerson(caller);
  const cr = await findChangeRequest(deps.db, project, names.crId);
  const comment = await findComment(deps.db, cr, names.commentId);
  const thread = comment.replyTo === null ? comment : await findComment(deps.db, cr, comment.replyTo);
  const lines = suggestionOf(comment.body);
  if (lines === null) throw invalid('must have one fenced code block with the language "suggestion"');
  if (thread.line === null || thread.side !== "new") throw invalid("must be on lines after the change");
  const tips = await findTips(deps, project, cr, seen);
  const edit = await makeEdit(deps, project, thread, tips, lines);
  const commit = await writeCommit(deps, caller, project, cr, comment, edit);
  await push(deps, project, cr, { from: tips.head, to: commit });
  const applied = await resolve(deps, caller, project, cr, { thread, comment, commit });
  await refresh(deps, project, [cr]);
  return { commit_sha: commit, comment: applied };
}

function requirePerson(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "Only people apply suggestions. Make the change in the branch, commit it, and reply to the comment.",
  );
}

function invalid(message: string): SvcError {
  return new SvcError("validation_failed", `To be applied, a comment ${message}.`);
}

interface Tips {
  base: string;
  head: string;
}

/** The commits of the open change request, whose branch svc may write to. */
async function findTips(deps: Deps, project: ProjectRow, cr: CrRow, seen: string | undefined): Promise<Tips> {
  const { rows, listing } = await refresh(deps, project, [cr]);
  const [row = cr] = rows;
  if (row.status !== "open")
    throw new SvcError(
      "not_open",
      `Change request #${cr.number} is ${row.status}, so nothing can be added to it.`,
    );
  if (!listing)
    throw new SvcError(
      "repo_unreachable",
      `The repository of ${project.name} does not respond. Try again in a moment.`,
    );
  const head = requireHead(row, listing, seen);
  if (await isProtected(deps.db, project, row.headRef))
    throw new SvcError(
      "forbidden",
      `The branch "${row.headRef}" is protected. Make the change in another branch, and open a change request of it.`,
    );
  const base = tipOf(listing, row.baseRef);
  await requireCommits(deps, repositoryOf(deps, project), [base, head]);
  return { base, head };
}

interface Edit {
  commit: string;
  path: string;
  bytes: Uint8Array;
}

/** Replaces the lines of a thread in the file at the head. @throws suggestion_outdated when they are not as they were */
async function makeEdit(
  deps: Deps,
  project: ProjectRow,
  thread: CommentRow,
  tips: Tips,
  lines: readonly string[],
): Promise<Edit> {
  const repo = repositoryOf(deps, project);
  const [placed = thread] = await placeAt(deps, project, tips, [thread]);
  const { placedPath, placedLine, placedStartLine, line, startLine, path, anchorCommitSha } = placed;
  const isMoved = placed.placedCommitSha !== null;
  const now = isMoved
    ? { path: placedPath, ...range(placedStartLine, placedLine) }
    : { path, ...range(startLine, line) };
  const then = { path, ...range(startLine, line) };
  const before = await readLines(deps, repo, anchorCommitSha ?? thread.headCommitSha, then.path);
  const after = await readLines(deps, repo, tips.head, now.path);
  const wanted = before?.slice(then.first, then.end);
  const found = after?.slice(now.first, now.end);
  if (!after || !found || found.length === 0 || wanted?.join("") !== found.join(""))
    throw new SvcError(
      "suggestion_outdated",
      "The lines of the comment have changed since it was written. Make the change in the branch, or suggest it again.",
    );
  const [first = ""] = found;
  const newline = first.endsWith("\r\n") ? "\r\n" : "\n";
  const written = lines.map((text) => `${Buffer.from(text).toString("latin1")}${newline}`);
  const isEnd = now.end === after.length && !after.at(-1)?.endsWith("\n");
  const replaced = isEnd ? withoutEnd(written, newline) : written;
  const text = [...after.slice(0, now.first), ...replaced, ...after.slice(now.end)].join("");
  return { commit: tips.head, path: now.path ?? "", bytes: Buffer.from(text, "latin1") };
}

/** From a comment's lines to indices. */
function range(start: number | null, line: number | null): { first: number; end: number } {
  return { first: (start ?? line ?? 1) - 1, end: line ?? 0 };
}

/** A file whose last line has no newline keeps it so. */
function withoutEnd(lines: readonly string[], newline: string): string[] {
  return lines.map((line, at) => (at === lines.length - 1 ? line.slice(0, -newline.length) : line));
}

/** The lines of a file with their ends, a character for each byte; null when there is none, or it is too large. */
async function readLines(
  deps: Deps,
  repo: Repository,
  commit: string | null,
  path: string | null,
): Promise<string[] | null> {
  if (commit === null || path === null || !(await deps.git.ensureCommits(repo, [commit]))) return null;
  const entry = await deps.git.findEntry(repo, commit, Buffer.from(path));
  if (entry?.type !== "file" || entry.size === null || entry.size > CONTENT_MAX_BYTES) return null;
  const bytes = await deps.git.readFile(repo, commit, path, CONTENT_MAX_BYTES);
  return (
    bytes &&
    (Buffer.from(bytes)
      .toString("latin1")
      .match(/[^\n]*\n|[^\n]+$/g) ??
      [])
  );
}

/** With the caller as its author, and the author of the suggestion as co-author. */
async function writeCommit(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: CrRow,
  comment: CommentRow,
  edit: Edit,
): Promise<string> {
  const identity = await personOf(deps, caller);
  const subject = `Apply a suggestion to ${plain(edit.path)} (#${cr.number})`;
  const isOwn = comment.createdBy === caller.userId;
  const message = isOwn
    ? subject
    : `${subject}\n\n${coAuthor(await personOf(deps, { userId: comment.createdBy }))}`;
  return await deps.git.replaceFile(repositoryOf(deps, project), {
    ...edit,
    message,
    identity,
    date: deps.clock(),
  });
}

async function push(
  deps: Deps,
  project: ProjectRow,
  { headRef: branch }: CrRow,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const repo = repositoryOf(deps, project);
  const outcome = await deps.git.push(repo, { branch, from, to });
  if (outcome.outcome === "moved") return;
  if (outcome.outcome === "rejected")
    throw new SvcError("push_rejected", `The git host refused the push to "${branch}": ${outcome.reason}`);
  const now = (await deps.git.listBranches(repo, LISTING_MS)).tips.get(branch);
  if (now === to) return;
  if (outcome.outcome === "stale") throw headMoved({ headRef: branch }, from, now ?? "");
  throw new SvcError(
    "repo_unreachable",
    `The git host did not confirm the push to "${branch}". Look at the branch before you try again.`,
  );
}

/** The suggestion is pushed by then: a thread that is gone or resolved stays so. */
async function resolve(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: CrRow,
  { thread, comment, commit }: { thread: CommentRow; comment: CommentRow; commit: string },
) {
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(changeRequestComments)
      .set({ resolvedAt: deps.clock(), resolvedBy: caller.userId })
      .where(
        and(eq(changeRequestComments.commentId, thread.commentId), isNull(changeRequestComments.resolvedAt)),
      )
      .returning();
    const by = byOf(caller);
    await recordPushes(tx, project, by, [{ branch: cr.headRef, commit }]);
    await recordTimeline(tx, { by, at: deps.clock() }, [
      {
        ...({ crId: cr.crId, event: "suggestion_applied" } as const),
        ...{ comment_id: comment.commentId, commit_sha: commit },
      },
    ]);
    const branch = { type: "branch", id: cr.headRef, action: "changed" } as const;
    await publish(tx, project.projectId, branch, ...(row ? [commentChange(row, cr, "changed")] : []));
    return await toWireOf(tx, row ?? thread);
  });
}
