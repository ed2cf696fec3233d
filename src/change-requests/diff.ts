import { isUtf8 } from "node:buffer";
import type { ProjectRow } from "../auth/caller.ts";
import type { ChangeRequestDiff, DiffFile } from "../contract/change-request.ts";
import { DIFF_MAX_BYTES, DIFF_MAX_FILES, DIFF_MAX_LINES } from "../contract/limits.ts";
import type { Deps } from "../deps.ts";
import type { DiffEntry, DiffRequest } from "../git/git.ts";
import { streamOf } from "../http/stream.ts";
import { repositoryOf } from "../projects/repository.ts";
import { requireCommits } from "./preview.ts";
import { findWithBranches, resolveTips } from "./tips.ts";

/** The tree without entries, which git knows without being told: the other side of unrelated histories. */
const EMPTY_TREE = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;

/**
 * The three-dot diff of a change request (spec 4.1 rules 4 and 5), as the JSON of a `ChangeRequestDiff`. The list of
 * files is whole; the patch is cut at a file border past 20,000 changed lines or 5 MiB.
 * @throws branch_missing, repo_unreachable, merge_engine_failed.
 */
export async function diffChangeRequest(deps: Deps, project: ProjectRow, name: string): Promise<string> {
  const { row, tips, mergeBase, repo, request } = await prepare(deps, project, name);
  const patch = new CutPatch();
  const summary = await deps.git.diff(repo, { ...request, onPatch: (file, entry) => patch.add(file, entry) });
  const files = summary.files.map(fileToWire);
  const diff: Omit<ChangeRequestDiff, "patch" | "patch_base64"> = {
    cr_id: row.crId,
    base_ref: row.baseRef,
    head_ref: row.headRef,
    base_sha: tips.base,
    head_sha: tips.head,
    merge_base: mergeBase,
    files,
    files_changed: files.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    truncated: summary.truncated || patch.cut,
  };
  return `${JSON.stringify(diff).slice(0, -1)},${patch.toJson()}}`;
}

/** The whole patch as a stream of bytes, for `Accept: text/x-diff`. Git is stopped when the reader goes away. */
export async function streamDiff(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<ReadableStream<Uint8Array>> {
  const { repo, request } = await prepare(deps, project, name);
  return streamOf((onPatch, signal) => deps.git.diff(repo, { ...request, onPatch, signal }));
}

async function prepare(deps: Deps, project: ProjectRow, name: string) {
  const [row, listing] = await findWithBranches(deps, project, name);
  const tips = await resolveTips(row, listing);
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [tips.base, tips.head]);
  const { mergeBase } = await deps.git.relate(repo, tips.base, tips.head);
  const request: Omit<DiffRequest, "onPatch"> = {
    from: mergeBase ?? EMPTY_TREE[tips.head.length === 64 ? 64 : 40],
    to: tips.head,
    attributes: tips.base,
    maxFiles: DIFF_MAX_FILES,
  };
  return { row, tips, mergeBase, repo, request };
}

/**
 * Collects the patch up to the limits, whole files only, as JSON: escaped file by file while git is still at work,
 * since 5 MiB at the end would be a third of the time of the answer.
 */
class CutPatch {
  cut = false;
  private readonly parts: Uint8Array[] = [];
  private readonly escaped: string[] = [];
  private exact = true;
  private bytes = 0;
  private lines = 0;

  add(file: Uint8Array, entry: DiffEntry): boolean {
    this.bytes += file.byteLength;
    this.lines += entry.additions + entry.deletions;
    if (this.bytes > DIFF_MAX_BYTES || this.lines > DIFF_MAX_LINES) this.cut = true;
    else {
      this.parts.push(file);
      this.exact &&= isUtf8(file);
      this.escaped.push(
        JSON.stringify(Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString()).slice(1, -1),
      );
    }
    return !this.cut;
  }

  /** The members `patch` and, when its bytes are not UTF-8, `patch_base64`. */
  toJson(): string {
    const patch = `"patch":"${this.escaped.join("")}"`;
    return this.exact ? patch : `${patch},"patch_base64":"${Buffer.concat(this.parts).toString("base64")}"`;
  }
}

function fileToWire(entry: DiffEntry): DiffFile {
  const { status, additions, deletions, binary } = entry;
  const bytes = Buffer.from(entry.path);
  const exact = isUtf8(bytes) ? {} : { path_base64: bytes.toString("base64") };
  return { path: bytes.toString("utf8"), ...exact, status, additions, deletions, binary };
}
