import type { Look } from "../../contract/manifest/claims.ts";
import { MANIFEST_MAX_BYTES } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Repository, TreeEntry } from "../../git/git.ts";

/** What stands at a path of some tree; null when nothing does. */
export type Find = (path: string) => Promise<TreeEntry | null>;

/** Looks in a commit of the mirror. */
export function finderOf(deps: Deps, repo: Repository, commit: string): Find {
  return (path) => deps.git.findEntry(repo, commit, new TextEncoder().encode(path));
}

export function lookBy(find: Find): Look {
  return async (path) => {
    const type = (await find(path))?.type;
    return type === "file" ? "file" : type === "directory" ? "folder" : null;
  };
}

/**
 * The text of a manifest that `finderOf` has found in a commit. Of one that is too large only as much is read as shows
 * that it is.
 */
export async function readText(
  deps: Deps,
  repo: Repository,
  commit: string,
  entry: TreeEntry,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  await deps.git.readBlob(repo, {
    commit,
    entry,
    onBytes(bytes) {
      chunks.push(bytes);
      size += bytes.byteLength;
      return size <= MANIFEST_MAX_BYTES;
    },
  });
  return new TextDecoder().decode(Buffer.concat(chunks));
}
