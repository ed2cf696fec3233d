import type { Db } from "../../../../db/client.ts";
import { SvcError } from "../../../contract/errors.ts";
import { CONTENT_MAX_BYTES } from "../../../contract/limits.ts";
import { suggestionOf } from "../../../contract/suggestion.ts";
import type { Deps } from "../../../deps.ts";
import type { ReplacedFile, Repository } from "../../../git/git.ts";
import { listed } from "../../../http/text.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { repositoryOf } from "../../projects/repository.ts";
import type { CrRow } from "../row.ts";
import { placeAt } from "./place.ts";
import { type CommentRow, findComment, placeOf } from "./row.ts";

/** What a comment suggests in the place of the lines of its thread. */
export interface Suggestion {
  comment: CommentRow;
  thread: CommentRow;
  lines: readonly string[];
}

/** The suggestion of a comment, which may be a reply. @throws validation_failed, not_found */
export async function readSuggestion(db: Db, cr: CrRow, name: string): Promise<Suggestion> {
  const comment = await findComment(db, cr, name);
  const thread = comment.replyTo === null ? comment : await findComment(db, cr, comment.replyTo);
  const lines = suggestionOf(comment.body);
  if (lines === null)
    throw invalid(comment, 'must have one fenced code block with the language "suggestion"');
  if (thread.line === null || thread.side !== "new")
    throw invalid(comment, "must be on lines after the change");
  return { comment, thread, lines };
}

function invalid({ commentId }: CommentRow, message: string): SvcError {
  return new SvcError("validation_failed", `To be applied, the comment ${commentId} ${message}.`);
}

/**
 * The files of the head with all suggestions in them.
 * @throws suggestion_outdated when lines are not as they were; validation_failed when two suggestions are for the same
 *   lines. Both name the comments.
 */
export async function editFiles(
  deps: Deps,
  project: ProjectRow,
  tips: { base: string; head: string },
  suggestions: readonly Suggestion[],
): Promise<ReplacedFile[]> {
  const repo = repositoryOf(deps, project);
  const threads = [...new Map(suggestions.map(({ thread }) => [thread.commentId, thread])).values()];
  const placed = new Map(
    (await placeAt(deps, project, tips, threads)).map((thread) => [thread.commentId, thread]),
  );
  const edits = suggestions.map((each) =>
    editOf({ ...each, thread: placed.get(each.thread.commentId) ?? each.thread }),
  );
  const outdated: Edit[] = [];
  const files: { path: string; after: readonly string[]; edits: readonly Edit[] }[] = [];
  for (const [path, ofFile] of Map.groupBy(edits, (edit) => edit.path)) {
    const after = (await readLines(deps, repo, tips.head, path)) ?? [];
    for (const edit of ofFile) {
      const before = await readLines(deps, repo, edit.written.commit, edit.written.path);
      if (!isAsWritten(edit, before, after)) outdated.push(edit);
    }
    files.push({ path, after, edits: ofFile });
  }
  if (outdated.length > 0) throw isOutdated(outdated);
  for (const file of files) requireApart(file.edits);
  return files.map(({ path, after, edits: ofFile }) => ({ path, bytes: replaceLines(after, ofFile) }));
}

/** Lines of a file, as indices. */
interface Range {
  first: number;
  end: number;
}

interface Edit extends Range, Suggestion {
  path: string;
  /** Where the lines were when the comment was written. */
  written: Range & { commit: string | null; path: string | null };
}

function editOf(suggestion: Suggestion): Edit {
  const { thread } = suggestion;
  const now = placeOf(thread);
  const { path, startLine, line, anchorCommitSha, headCommitSha } = thread;
  const written = { path, ...range(startLine, line), commit: anchorCommitSha ?? headCommitSha };
  return { ...suggestion, path: now.path ?? "", ...range(now.start_line, now.line), written };
}

function range(start: number | null, line: number | null): Range {
  return { first: (start ?? line ?? 1) - 1, end: line ?? 0 };
}

function requireApart(edits: readonly Edit[]): void {
  const ordered = edits.toSorted((a, b) => a.first - b.first);
  for (const [at, edit] of ordered.entries()) {
    const next = ordered[at + 1];
    if (!next || edit.end <= next.first) continue;
    const names = [edit, next].map(nameOf).join(" and ");
    throw new SvcError(
      "validation_failed",
      `Nothing was applied: these suggestions overlap: ${names}. Apply only one of them.`,
      { details: detailsOf([edit, next], "overlaps another suggestion") },
    );
  }
}

function detailsOf(edits: readonly Edit[], what: string) {
  return edits.map(({ comment }) => ({ path: "comment_ids", message: `${comment.commentId} ${what}` }));
}

/** `comment 55555555-… on login.ts:3`. */
function nameOf({ comment, thread }: Edit): string {
  return `comment ${comment.commentId} on ${thread.path}:${thread.line}`;
}

function isAsWritten(
  { first, end, written }: Edit,
  before: string[] | null,
  after: readonly string[],
): boolean {
  const found = after.slice(first, end);
  const wanted = before?.slice(written.first, written.end);
  return found.length > 0 && wanted?.join("") === found.join("");
}

function isOutdated(edits: readonly Edit[]): SvcError {
  const isOne = edits.length === 1;
  const have = isOne ? "has" : "have";
  return new SvcError(
    "suggestion_outdated",
    `Nothing was applied: the lines of ${listed(edits.map(nameOf))} ${have} changed since. Make the change in the branch, or suggest it again.`,
    { details: detailsOf(edits, "is outdated") },
  );
}

/** The bytes of a file after edits that do not overlap. A file whose last line has no newline keeps it so. */
function replaceLines(lines: readonly string[], edits: readonly Edit[]): Uint8Array {
  const result = [...lines];
  // from the end, so that the indices of the others stay right
  for (const { first, end, lines: suggested } of edits.toSorted((a, b) => b.first - a.first)) {
    const newline = lines[first]?.endsWith("\r\n") ? "\r\n" : "\n";
    const written = suggested.map((text) => `${Buffer.from(text).toString("latin1")}${newline}`);
    const isEnd = end === lines.length && !lines.at(-1)?.endsWith("\n");
    result.splice(first, end - first, ...(isEnd ? withoutEnd(written, newline) : written));
  }
  return Buffer.from(result.join(""), "latin1");
}

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
