import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** The size limit of a HEAD or `.git` file. */
const LINE_MAX_BYTES = 4096;

/** The current branch of the work tree around `cwd`; null outside of one and for a detached HEAD. Does not run git. */
export async function currentBranch(cwd: string): Promise<string | null> {
  const found = await findRepository(cwd);
  if (found === null) return null;
  const head = await line(join(found.gitDir, "HEAD"));
  return /^ref: refs\/heads\/(.+)$/.exec(head ?? "")?.[1] ?? null;
}

/** The work tree around `cwd`: its top folder and git directory; null outside of one. Does not run git. */
export async function findRepository(cwd: string): Promise<{ folder: string; gitDir: string } | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const gitDir = await gitDirOf(folder);
    if (gitDir !== null) return { folder, gitDir };
    if (dirname(folder) === folder) return null;
  }
}

/** `.git` is a folder, or in a linked work tree a file that names one. */
async function gitDirOf(folder: string): Promise<string | null> {
  const path = join(folder, ".git");
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) return path;
  if (!found?.isFile()) return null;
  const target = /^gitdir: (.+)$/.exec((await line(path)) ?? "")?.[1];
  return target === undefined ? null : resolve(folder, target);
}

async function line(path: string): Promise<string | null> {
  try {
    if ((await stat(path)).size > LINE_MAX_BYTES) return null;
    return (await readFile(path, "utf8")).split("\n")[0]?.trimEnd() ?? null;
  } catch {
    return null;
  }
}
