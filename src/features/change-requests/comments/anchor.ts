import type { AddCommentBody } from "../../../contract/comment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { PATH_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import type { Repository, TreeEntry } from "../../../git/git.ts";
import { storable } from "../../../http/text.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { emptyTreeLike } from "../../projects/diff.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { requireCommits } from "../preview.ts";
import { findWithBranches, resolveTips } from "../tips.ts";

/** The position of a comment in a diff. */
export interface Anchor {
  path: string;
  line: number | null;
  side: "old" | "new" | null;
  quote: string | null;
  headCommitSha: string;
}

/** Bytes of the line that are stored with a comment. */
const QUOTE_MAX_BYTES = 1024;
/** Bytes of the largest file with comments on lines. The diff of a larger one is not shown. */
const FILE_MAX_BYTES = 20 * 1024 * 1024;

/**
 * Finds the file and line of a comment in the current three-dot diff of a change request: the file must be changed, and
 * the line must exist on that side. Null for a comment on the whole change request.
 * @throws validation_failed, not_found, branch_missing, repo_unreachable, merge_engine_failed
 */
export async function findAnchor(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { path: given, line, side }: Pick<AddCommentBody, "path" | "line" | "side">,
): Promise<Anchor | null> {
  if (given === undefined) {
    if (line === undefined && side === undefined) return null;
    throw invalid("path", "is required with a line");
  }
  if (line === undefined && side !== undefined) throw invalid("line", "is required with a side");
  const path = storable("path", given, PATH_MAX_BYTES);
  const [row, listing] = await findWithBranches(deps, project, name);
  const tips = await resolveTips(row, listing);
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [tips.base, tips.head]);
  const { mergeBase } = await deps.git.relate(repo, tips.base, tips.head);
  const commits = { old: mergeBase ?? emptyTreeLike(tips.head), new: tips.head };
  const find = async (commit: string) =>
    mergeBase === null && commit === commits.old ? null : deps.git.findEntry(repo, commit, Buffer.from(path));
  const entries = { old: await find(commits.old), new: await find(commits.new) };
  if (!isChanged(entries.old, entries.new))
    throw invalid("path", "is not a file that the change request changes");
  if (line === undefined) return { path, line: null, side: null, quote: null, headCommitSha: tips.head };
  const on = side ?? "new";
  const quote = await readLine(deps, repo, commits[on], entries[on], line);
  if (quote === null) {
    const where = on === "new" ? "after the change" : "before the change";
    throw invalid("line", `is not a line of the file ${where} (side "${on}")`);
  }
  return { path, line, side: on, quote, headCommitSha: tips.head };
}

/** A directory counts as a missing file. */
function isChanged(old: TreeEntry | null, now: TreeEntry | null): boolean {
  const shown = [old, now].map((entry) =>
    entry && entry.type !== "directory" ? `${entry.mode} ${entry.id}` : null,
  );
  return shown[0] !== shown[1];
}

/** The text of a line, from 1; null when there is none. A final newline does not start another line. */
async function readLine(
  deps: Deps,
  repo: Repository,
  commit: string,
  entry: TreeEntry | null,
  line: number,
): Promise<string | null> {
  if (!entry || entry.size === null) return null;
  if (entry.size > FILE_MAX_BYTES)
    throw invalid("line", "is in a file that is too large to comment on by line");
  const kept: Uint8Array[] = [];
  let [at, length] = [1, 0];
  let isFound = false;
  const onBytes = (bytes: Uint8Array): boolean => {
    for (let from = 0; from < bytes.length && at <= line; ) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      if (at === line) {
        isFound = true;
        // a copy: git reuses the buffer
        if (length < QUOTE_MAX_BYTES) kept.push(bytes.slice(from, Math.min(end, from + QUOTE_MAX_BYTES)));
        length += end - from;
      }
      if (newline >= 0) at++;
      from = end + 1;
    }
    return at <= line;
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
