import type { Lookup } from "../../contract/manifest/claims.ts";
import { MANIFEST_MAX_BYTES } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { Repository, TreeEntry } from "../../git/git.ts";

/** Finds the entry at a path of a tree; null when there is none. */
export type Find = (path: string) => Promise<TreeEntry | null>;

/** Finds entries in a commit of the mirror. */
export function finderOf(deps: Deps, repo: Repository, commit: string): Find {
  return (path) => deps.git.findEntry(repo, commit, new TextEncoder().encode(path));
}

export function lookupBy(find: Find): Lookup {
  return async (path) => {
    const type = (await find(path))?.type;
    return type === "file" ? "file" : type === "directory" ? "folder" : null;
  };
}

/**
 * The text of a manifest that `finderOf` found in a commit. Stops reading once the file exceeds the size limit.
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
