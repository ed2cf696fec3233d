import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { DiffEntry } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { prepareDiff } from "./diff.ts";

/** The patch in an excerpt, in bytes: about 15,000 tokens of a model's context. */
const PATCH_MAX_BYTES = 60_000;
/** Files that an excerpt lists. */
const FILES_MAX = 300;

/**
 * The diff of a change request as text for an agent: the list of its files, then the patch of whole files, up to 60 kB. A
 * single file that is longer is cut at a line.
 * @param path only this file; null: all
 * @throws not_found for a path that does not change; branch_missing, repo_unreachable, merge_engine_failed
 */
export async function excerptDiff(
  deps: Deps,
  project: ProjectRow,
  name: string,
  path: string | null,
): Promise<string> {
  const { row, tips, repo, request } = await prepareDiff(deps, project, name);
  const patch = new Excerpt(path);
  const summary = await deps.git.diff(repo, {
    ...request,
    onPatch: (piece, entry) => patch.add(piece, entry),
  });
  const files = path === null ? summary.files : summary.files.filter((entry) => pathOf(entry) === path);
  if (path !== null && files.length === 0)
    throw new SvcError(
      "not_found",
      `Change request #${row.number} does not change ${path}. Request the diff without a path for the list of its files.`,
    );
  const more =
    summary.files.length > FILES_MAX && path === null ? [`… ${files.length - FILES_MAX} more`] : [];
  return [
    `#${row.number} ${row.headRef} (${tips.head}) into ${row.baseRef}: ${files.length} changed file${files.length === 1 ? "" : "s"}${summary.truncated ? ", and more" : ""}. ${patch.note()}`,
    "",
    ...files.slice(0, FILES_MAX).map(lineOf),
    ...more,
    "",
    patch.text(),
  ].join("\n");
}

/** Collects a patch up to the limit. */
class Excerpt {
  readonly #path: string | null;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  #state: "whole" | "some files" | "cut file" = "whole";

  constructor(path: string | null) {
    this.#path = path;
  }

  /** @returns whether more is wanted */
  add(piece: Uint8Array, entry: DiffEntry): boolean {
    if (this.#path !== null && pathOf(entry) !== this.#path) return true;
    const room = PATCH_MAX_BYTES - this.#bytes;
    if (piece.byteLength <= room) {
      this.#parts.push(piece);
      this.#bytes += piece.byteLength;
      return true;
    }
    // the first file is shown even if it does not fit
    const isFirst = this.#path !== null || this.#bytes === 0;
    this.#state = isFirst ? "cut file" : "some files";
    if (isFirst) this.#parts.push(piece.subarray(0, piece.lastIndexOf(NEWLINE, room - 1) + 1));
    return false;
  }

  note(): string {
    if (this.#state === "whole") return "The patch is complete.";
    if (this.#state === "cut file") return "The patch ends inside a file that is too long to show.";
    return "The patch does not show all files: request the others by their paths.";
  }

  text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }
}

const NEWLINE = 10;
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

function pathOf({ path }: DiffEntry): string {
  return Buffer.from(path).toString("utf8");
}

function lineOf(entry: DiffEntry): string {
  const counts = entry.binary ? "binary" : `+${entry.additions} -${entry.deletions}`;
  const path = pathOf(entry);
  // a name with a line break would look like another line
  return `${entry.status} ${counts} ${CONTROL.test(path) ? JSON.stringify(path) : path}`;
}
