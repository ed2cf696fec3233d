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

/** Where in a diff a comment stands. */
export interface Anchor {
  path: string;
  line: number | null;
  side: "old" | "new" | null;
  quote: string | null;
  headCommitSha: string;
}

/** Bytes of a line that are kept beside a comment. */
const QUOTE_MAX_BYTES = 1024;
/** Bytes of a file in which a line is looked for: a diff of a longer one is shown to nobody. */
const FILE_MAX_BYTES = 20 * 1024 * 1024;

/**
 * Finds what a comment is about in the three-dot diff of a change request as it is now: a file that it changes, and a
 * line that the file has on that side. Null for a comment on the whole.
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
    throw invalid("path", "is no file that the change request changes");
  if (line === undefined) return { path, line: null, side: null, quote: null, headCommitSha: tips.head };
  const on = side ?? "new";
  const quote = await readLine(deps, repo, commits[on], entries[on], line);
  if (quote === null) {
    const where = on === "new" ? "after the change" : "before the change";
    throw invalid("line", `is no line of the file as it is ${where} (side "${on}")`);
  }
  return { path, line, side: on, quote, headCommitSha: tips.head };
}

/** A directory of one side is a file of none. */
function isChanged(old: TreeEntry | null, now: TreeEntry | null): boolean {
  const shown = [old, now].map((entry) =>
    entry && entry.type !== "directory" ? `${entry.mode} ${entry.id}` : null,
  );
  return shown[0] !== shown[1];
}

/** The text of a line, from 1; null when there is none. What ends with a line's end has no further line behind it. */
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
  let isBegun = false;
  const onBytes = (bytes: Uint8Array): boolean => {
    for (let from = 0; from < bytes.length && at <= line; ) {
      const newline = bytes.indexOf(NEWLINE, from);
      const end = newline < 0 ? bytes.length : newline;
      if (at === line) {
        isBegun = true;
        // a copy: the bytes are the reader's
        if (length < QUOTE_MAX_BYTES) kept.push(bytes.slice(from, Math.min(end, from + QUOTE_MAX_BYTES)));
        length += end - from;
      }
      if (newline >= 0) at++;
      from = end + 1;
    }
    return at <= line;
  };
  await deps.git.readBlob(repo, { commit, entry, onBytes });
  return isBegun ? textOf(Buffer.concat(kept)) : null;
}

const NEWLINE = 10;

/** U+FFFD stands for what is not UTF-8 and for NUL; a character that was cut is left out. */
function textOf(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes.subarray(0, QUOTE_MAX_BYTES), { stream: true });
  return text.replaceAll("\0", "\ufffd").replace(/\r$/, "");
}

function invalid(path: string, message: string): SvcError {
  return new SvcError("validation_failed", `${path} ${message}.`, { details: [{ path, message }] });
}
