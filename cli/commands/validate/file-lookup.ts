import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Lookup } from "../../../src/contract/manifest/claims.ts";
import type { Git } from "../../git.ts";

/** Looks up files in the work tree. A symbolic link is neither file nor folder: git does not follow it either. */
export function lookupInWorkTree(root: string): Lookup {
  return async (path) => {
    const entry = await lstat(join(root, path)).catch(() => null);
    return entry?.isFile() ? "file" : entry?.isDirectory() ? "folder" : null;
  };
}

/** Looks up files in a commit. */
export function lookupInCommit(git: Git, commit: string): Lookup {
  return async (path) => {
    const mode = (await listed(git, commit, path))?.mode;
    return mode?.startsWith("100") ? "file" : mode === "040000" ? "folder" : null;
  };
}

/** A commit's entry at a path; only a file has a size. */
export async function listed(
  git: Git,
  commit: string,
  path: string,
): Promise<{ mode: string; id: string; size: number } | null> {
  const answer = await git.output(
    "--literal-pathspecs",
    "ls-tree",
    "-z",
    "-l",
    "--full-tree",
    commit,
    "--",
    path,
  );
  const [, mode, id, size] = /^(\d+) \S+ ([0-9a-f]+) +(\S+)\t/.exec(answer) ?? [];
  return mode === undefined || id === undefined ? null : { mode, id, size: Number(size) };
}
