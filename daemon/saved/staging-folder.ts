import { join } from "node:path";
import type { Settings } from "../settings.ts";
import type { Excluded } from "./excluded.ts";
import type { Selection } from "./select-changes.ts";
import { gitFailed, isDiskFull, type WorkspaceGit } from "./workspace-git.ts";

/** Unreadable files that are skipped; with more, the save fails. */
const UNREADABLE_MAX = 20;

/** The state that a save keeps for the next one, so that only changes are read and sent again. */
export interface Kept {
  /** Paths in which the staging index differs from the workspace's; null: the index must not be reused. */
  paths: ReadonlySet<string> | null;
}

/**
 * Creates the staging folder outside the workspace, as the agent, with an object directory and a copy of the workspace's
 * index. If that has not changed since the last save, the index of the last save is reused, so that git does not read
 * unchanged files again.
 * @param isKept whether the last save succeeded; otherwise the folder is created again
 * @param isSame whether all paths that the last save has staged are saved again
 * @returns the environment with which git uses the folder, and reads other objects from the workspace
 */
export async function openStagingFolder(
  { must, script }: WorkspaceGit,
  settings: Settings,
  { isKept, isSame }: { isKept: boolean; isSame: boolean },
): Promise<Readonly<Record<string, string>>> {
  const paths = ["rev-parse", "--path-format=absolute", "--git-path", "index", "--git-path", "objects"];
  const found = await must("git could not find its folder in the workspace", paths);
  const [index = "", objects = ""] = found.toString().split("\n");
  const folder = folderOf(settings);
  const { code, errors } = await script(OPEN, [folder, index, isKept ? "kept" : "", isSame ? "same" : ""]);
  if (code !== 0) throw gitFailed("The staging folder could not be created", errors);
  return {
    GIT_INDEX_FILE: join(folder, "index"),
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: /[:"\\]/.test(objects)
      ? `"${objects.replace(/["\\]/g, "\\$&")}"`
      : objects,
  };
}

/** The copies keep their mtime, by which git detects files that may have changed since. */
const OPEN = `
[ "$3" ] || rm -rf -- "$1"
mkdir -p -m 700 -- "$1/objects" || exit
rm -f -- "$1/index.lock"
[ -f "$2" ] || { rm -f -- "$1/index" "$1/real"; exit; }
[ "$4" ] && [ -f "$1/index" ] && cmp -s -- "$2" "$1/real" && exit
cp -p -- "$2" "$1/real" && cp -p -- "$2" "$1/index"
`;

/** Frees the disk space of a failed save. */
export async function removeStagingFolder({ script }: WorkspaceGit, settings: Settings): Promise<void> {
  await script('rm -rf -- "$1"', [folderOf(settings)]);
}

function folderOf({ home }: Settings): string {
  return join(home, ".svc-saved");
}

/**
 * Stages the selected changes in the index. Files that git cannot read are excluded.
 * @returns the tree of the index
 */
export async function updateIndex(
  { git, must }: WorkspaceGit,
  environment: Readonly<Record<string, string>>,
  { included, removed }: Selection,
  excluded: Excluded,
): Promise<string> {
  const remove = ["update-index", "-z", "--force-remove", "--stdin"];
  if (removed.length > 0)
    await must("git could not exclude a file", remove, { stdin: encodePaths(removed), environment });
  // deletions first: a file may replace a folder
  const paths = included.toSorted((a, b) => Number(b.isGone) - Number(a.isGone)).map(({ path }) => path);
  for (let unreadable = 0; paths.length > 0; unreadable++) {
    const add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
    const { code, errors } = await git(add, { stdin: encodePaths(paths), environment });
    if (code === 0) break;
    const isUnreadable = (path: string) => errors.endsWith(`fatal: Unable to process path ${path}\n`);
    const at = isDiskFull(errors) ? -1 : paths.findLastIndex(isUnreadable);
    const [path] = at < 0 ? [] : paths.splice(at, 1);
    if (path === undefined || unreadable === UNREADABLE_MAX)
      throw gitFailed("git could not read the changed files", errors);
    excluded.add(path, "unreadable");
  }
  return (await must("git could not write the work", ["write-tree"], { environment }))
    .toString("latin1")
    .trim();
}

function encodePaths(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
}
