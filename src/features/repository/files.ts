import { SvcError } from "../../contract/errors.ts";
import type { Directory, TreeEntry as WireEntry } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import type { TreeEntry } from "../../git/git.ts";
import type { Page } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { pathToWire, readPath } from "../projects/path.ts";
import { nextCursor, resolvePage } from "./cursor.ts";

interface FilesQuery {
  ref?: string;
  path?: string;
  path_base64?: string;
}

/**
 * The entries of a directory at a ref, in git's order.
 * @throws validation_failed; not_found when the path is not a directory; payload_too_large; what `resolveRef` throws.
 */
export async function listFiles(
  deps: Deps,
  project: ProjectRow,
  query: FilesQuery,
  { limit, cursor }: Page,
): Promise<Directory> {
  const path = readPath(query);
  const { repo, ref, commit, skip } = await resolvePage(deps, project, { ref: query.ref, cursor });
  const found = await deps.git.listDirectory(repo, { commit, path, skip, limit });
  if (!found) throw notADirectory(await deps.git.findEntry(repo, commit, path), pathToWire(path).path, ref);
  return {
    ref,
    commit_sha: commit,
    ...pathToWire(path),
    entries: found.entries.map((entry) => toWire(path, entry)),
    ...nextCursor(commit, skip + found.entries.length, found.more),
  };
}

function toWire(directory: Buffer, { name, type, mode, size, id }: TreeEntry): WireEntry {
  const path = directory.length === 0 ? name : Buffer.concat([directory, SLASH, name]);
  return { name: Buffer.from(name).toString("utf8"), ...pathToWire(path), type, mode, size, sha: id };
}

const SLASH = Buffer.from("/");

function notADirectory(entry: TreeEntry | null, path: string, ref: string): SvcError {
  if (!entry) return new SvcError("not_found", `"${ref}" has no directory "${path}".`);
  const what =
    entry.type === "submodule"
      ? `a submodule, not a directory: another repository, at commit ${entry.id}.`
      : `a ${entry.type === "symlink" ? "symbolic link" : "file"}, not a directory. Read it with: svc repo cat`;
  return new SvcError("not_found", `"${path}" is ${what}`);
}
