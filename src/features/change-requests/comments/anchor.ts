import type { AddCommentBody } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { PATH_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import type { Repository, TreeEntry } from "../../../git/git.ts";
import { storable } from "../../../http/text.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { emptyTreeLike } from "../../projects/diff.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { requireCommits } from "../preview.ts";
import { findHead } from "../since.ts";
import { findWithBranches, resolveTips } from "../tips.ts";

/** The position of a comment in a diff. */
export interface Anchor {
  path: string;
  line: number | null;
  startLine: number | null;
  side: "old" | "new" | null;
  quote: string | null;
  headCommitSha: string;
  baseCommitSha: string;
  /** The commit that has the line. */
  anchorCommitSha: string | null;
}

/** Lines of one comment. */
const LINES_MAX = 500;
/** Bytes of the lines that are stored with a comment. */
const QUOTE_MAX_BYTES = 1024;
/** Bytes of the largest file with comments on lines. The diff of a larger one is not shown. */
const FILE_MAX_BYTES = 20 * 1024 * 1024;

/** A diff of a change request that comments are on. */
export interface CommentedDiff {
  repo: Repository;
  base: string;
  head: string;
  mergeBase: string | null;
  /** Whether the head is the current one, and not an earlier one. */
  isCurrent: boolean;
}

/**
 * The three-dot diff that comments are on: the current one, or that of an earlier head.
 * @param commit a head that the change request has had; null for the current one
 * @throws validation_failed, not_found, branch_missing, repo_unreachable, merge_engine_failed
 */
export async function findDiff(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  commit: string | null = null,
): Promise<CommentedDiff> {
  const [row, listing] = await findWithBranches(deps, project, name);
  const tips = await resolveTips(row, listing);
  const repo = repositoryOf(deps, project);
  const isCurrent = commit === null || commit.toLowerCase() === tips.head;
  const { base, head } = isCurrent ? tips : headTips(await findHead(deps, caller, row, commit));
  await requireCommits(deps, repo, [base, head]);
  const { mergeBase } = await deps.git.relate(repo, base, head);
  return { repo, base, head, mergeBase, isCurrent };
}

function headTips({ commitSha, baseCommitSha }: { commitSha: string; baseCommitSha: string }) {
  return { base: baseCommitSha, head: commitSha };
}

/** Where a comment is to be; without a path, on the whole change request. */
type Wanted = Pick<AddCommentBody, "path" | "line" | "start_line" | "side">;

/** Whether a comment is on a file. @throws validation_failed for a line without a file */
export function hasAnchor({ path, line, start_line: start, side }: Wanted): boolean {
  if (path !== undefined) return true;
  if (line === undefined && start === undefined && side === undefined) return false;
  throw invalid("path", "is required with a line");
}

/**
 * Finds the file and line of a comment in a diff: the file must be changed, and the line must exist on that side.
 * @throws validation_failed, merge_engine_failed
 */
export async function findAnchor(
  deps: Deps,
  { repo, base, head, mergeBase }: CommentedDiff,
  { path: given = "", line, start_line: start, side }: Wanted,
): Promise<Anchor> {
  if (line === undefined && side !== undefined) throw invalid("line", "is required with a side");
  if (line === undefined && start !== undefined) throw invalid("line", "is required with a start_line");
  if (line !== undefined && start !== undefined) requireLines(start, line);
  const path = storable("path", given, PATH_MAX_BYTES);
  const commits = { old: mergeBase ?? emptyTreeLike(head), new: head };
  const find = async (commit: string) =>
    mergeBase === null && commit === commits.old ? null : deps.git.findEntry(repo, commit, Buffer.from(path));
  const entries = { old: await find(commits.old), new: await find(commits.new) };
  if (!isChanged(entries.old, entries.new))
    throw invalid("path", "is not a file that the change request changes");
  const at = { path, headCommitSha: head, baseCommitSha: base };
  if (line === undefined)
    return { ...at, line: null, startLine: null, side: null, quote: null, anchorCommitSha: null };
  const on = side ?? "new";
  const startLine = start === undefined || start === line ? null : start;
  const quote = await readLines(deps, repo, commits[on], entries[on], { from: startLine ?? line, to: line });
  if (quote === null) {
    const where = on === "new" ? "after the change" : "before the change";
    throw invalid("line", `is not a line of the file ${where} (side "${on}")`);
  }
  return { ...at, line, startLine, side: on, quote, anchorCommitSha: commits[on] };
}

function requireLines(start: number, line: number): void {
  if (start > line) throw invalid("start_line", "must not be after line");
  if (line - start >= LINES_MAX)
    throw invalid("start_line", `can be at most ${LINES_MAX - 1} lines before line`);
}

/** A directory counts as a missing file. */
function isChanged(old: TreeEntry | null, now: TreeEntry | null): boolean {
  const shown = [old, now].map((entry) =>
    entry && entry.type !== "directory" ? `${entry.mode} ${entry.id}` : null,
  );
  return shown[0] !== shown[1];
}

/** The text of lines, from 1; null when one is missing. A final newline does not start another line. */
async function readLines(
  deps: Deps,
  repo: Repository,
  commit: string,
  entry: TreeEntry | null,
  { from, to }: { from: number; to: number },
): Promise<string | null> {
  if (!entry || entry.size === null) return null;
  if (entry.size > FILE_MAX_BYTES)
    throw invalid("line", "is in a file that is too large to comment on by line");
  const kept: Uint8Array[] = [];
  let [at, length] = [1, 0];
  let isFound = false;
  const onBytes = (bytes: Uint8Array): boolean => {
    for (let start = 0; start < bytes.length && at <= to; ) {
      const newline = bytes.indexOf(NEWLINE, start);
      // with the newline, except after the last line
      const end = newline < 0 ? bytes.length : newline + (at < to ? 1 : 0);
      if (at >= from && length < QUOTE_MAX_BYTES) {
        // a copy: git reuses the buffer
        kept.push(bytes.slice(start, Math.min(end, start + QUOTE_MAX_BYTES)));
        length += end - start;
      }
      if (at === to) isFound = true;
      if (newline >= 0) at++;
      start = newline < 0 ? bytes.length : newline + 1;
    }
    return at <= to;
  };
  await deps.git.readBlob(repo, { commit, entry, onBytes });
  return isFound ? textOf(Buffer.concat(kept)) : null;
}

const NEWLINE = 10;

/** Replaces NUL and invalid UTF-8 with U+FFFD and drops a character that was cut. */
function textOf(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes.subarray(0, QUOTE_MAX_BYTES), { stream: true });
  return text.replaceAll("\0", "\ufffd").replace(/\r$/, "");
}

function invalid(path: string, message: string): SvcError {
  return new SvcError("validation_failed", `${path} ${message}.`, { details: [{ path, message }] });
}
