import { isUtf8 } from "node:buffer";
import type { DiffFile } from "../../contract/change-request.ts";
import { DIFF_MAX_BYTES, DIFF_MAX_LINES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import type { DiffEntry, DiffRequest, Repository } from "../../git/git.ts";
import { streamOf } from "../../http/stream.ts";

/** The empty tree, which git has built in: the base of a diff of unrelated histories. */
const EMPTY_TREE = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;

/** The empty tree of the repository that a commit is in. */
export function emptyTreeLike(commit: string): string {
  return EMPTY_TREE[commit.length === 64 ? 64 : 40];
}

/** The size of a diff. */
interface DiffTotals {
  files_changed: number;
  additions: number;
  deletions: number;
}

/** A diff as it crosses the wire, without its patch. The list of files is complete. */
interface Collected {
  files: DiffFile[];
  totals: DiffTotals;
  truncated: boolean;
}

/**
 * A diff as the text of a JSON object: the members of `about`, then `patch` and, when its bytes are not UTF-8, `patch_base64`.
 * The patch ends at a file boundary past 20,000 changed lines or 5 MiB.
 */
export async function diffJson<Answer extends object>(
  deps: Deps,
  repo: Repository,
  request: Omit<DiffRequest, "onPatch">,
  about: (diff: Collected) => Omit<Answer, "patch" | "patch_base64">,
): Promise<string> {
  const patch = new CutPatch();
  const summary = await deps.git.diff(repo, { ...request, onPatch: (file, entry) => patch.add(file, entry) });
  const files = summary.files.map(fileToWire);
  const diff = about({ files, totals: totalsOf(files), truncated: summary.truncated || patch.cut });
  return `${JSON.stringify(diff).slice(0, -1)},${patch.toJson()}}`;
}

/** The whole patch, for `Accept: text/x-diff`. Git is stopped when the client disconnects. */
export function patchResponse(
  deps: Deps,
  repo: Repository,
  request: Omit<DiffRequest, "onPatch">,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const stream = streamOf((onPatch, signal) => deps.git.diff(repo, { ...request, onPatch, signal }));
  return new Response(stream, { headers: { "Content-Type": "text/x-diff; charset=utf-8", ...headers } });
}

function totalsOf(files: readonly DiffFile[]): DiffTotals {
  return {
    files_changed: files.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
  };
}

/**
 * Collects the patch as JSON, whole files up to the limits. Escapes each file while git is still running, because
 * escaping 5 MiB at the end would take a third of the response time.
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
  const { from, status, additions, deletions, binary } = entry;
  const [path, path_base64] = textOf(entry.path);
  const [previous_path, previous_path_base64] = from ? textOf(from) : [];
  return {
    path,
    ...(path_base64 !== undefined && { path_base64 }),
    status,
    ...(previous_path !== undefined && { previous_path }),
    ...(previous_path_base64 !== undefined && { previous_path_base64 }),
    ...{ additions, deletions, binary },
  };
}

/** A path as text, and in base64 when that is not exact. */
function textOf(path: Uint8Array): [text: string, base64?: string] {
  const bytes = Buffer.from(path);
  const text = bytes.toString("utf8");
  return isUtf8(bytes) ? [text] : [text, bytes.toString("base64")];
}
