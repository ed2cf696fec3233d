import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Look } from "../../../src/contract/manifest/claims.ts";
import type { Git } from "../../git.ts";

/** Looks at files as they are. A symbolic link is neither file nor folder: git would not follow it either. */
export function lookAtFiles(root: string): Look {
  return async (path) => {
    const entry = await lstat(join(root, path)).catch(() => null);
    return entry?.isFile() ? "file" : entry?.isDirectory() ? "folder" : null;
  };
}

/** Looks at what a commit has. */
export function lookAtCommit(git: Git, commit: string): Look {
  return async (path) => {
    const mode = (await listed(git, commit, path))?.mode;
    return mode?.startsWith("100") ? "file" : mode === "040000" ? "folder" : null;
  };
}

/** What a commit has at a path; its size only of a file. */
export async function listed(
  git: Git,
  commit: string,
  path: string,
): Promise<{ mode: string; id: string; size: number } | null> {
  const answer = await git.tell(
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
