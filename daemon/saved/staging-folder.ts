import { join } from "node:path";
import type { Settings } from "../settings.ts";
import type { Excluded } from "./excluded.ts";
import { holdsCredentials } from "./secrets.ts";
import { gitFailed, isDiskFull, type WorkspaceGit } from "./workspace-git.ts";
import type { Change } from "./workspace-status.ts";

/** One new file, and all that changed files are together: a build's output that nobody has told git to ignore. */
const FILE_MAX_BYTES = 50 * 1024 * 1024;
const TOTAL_MAX_BYTES = 256 * 1024 * 1024;
/** Files that git cannot read; where there are more, something else is wrong. */
const UNREADABLE_MAX = 20;

/** What one save leaves for the next, so that only what has changed is read and sent again. */
export interface Kept {
  /** Paths that the index there has otherwise than the workspace's; null: it is not to be used again. */
  paths: ReadonlySet<string> | null;
}

/**
 * Makes the folder in which work is prepared to be saved, beside the workspace, as the agent: an index like the
 * workspace's, and a place for objects. Where the workspace's own has not changed since the last save, the index is that
 * save's, which knows the files that were read then.
 * @param isKept whether there was a save that ended well; else what is there is removed
 * @param isSame whether all that it has read is to be saved again
 * @returns the variables by which git works there, and in the workspace's objects for the rest
 */
export async function openStagingFolder(
  { must, script }: WorkspaceGit,
  settings: Settings,
  { isKept, isSame }: { isKept: boolean; isSame: boolean },
): Promise<Readonly<Record<string, string>>> {
  const paths = ["rev-parse", "--path-format=absolute", "--git-path", "index", "--git-path", "objects"];
  const found = await must("git does not know the workspace", paths);
  const [index = "", objects = ""] = found.toString().split("\n");
  const folder = folderOf(settings);
  const { code, errors } = await script(OPEN, [folder, index, isKept ? "kept" : "", isSame ? "same" : ""]);
  if (code !== 0) throw gitFailed("The work could not be prepared to be saved", errors);
  return {
    GIT_INDEX_FILE: join(folder, "index"),
    GIT_OBJECT_DIRECTORY: join(folder, "objects"),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: /[:"\\]/.test(objects)
      ? `"${objects.replace(/["\\]/g, "\\$&")}"`
      : objects,
  };
}

/** The copies keep their time: by it git knows which files may have changed unseen. */
const OPEN = `
[ "$3" ] || rm -rf -- "$1"
mkdir -p -m 700 -- "$1/objects" || exit
rm -f -- "$1/index.lock"
[ -f "$2" ] || { rm -f -- "$1/index" "$1/real"; exit; }
[ "$4" ] && [ -f "$1/index" ] && cmp -s -- "$2" "$1/real" && exit
cp -p -- "$2" "$1/real" && cp -p -- "$2" "$1/index"
`;

/** Gives the place on the disk back that a save has taken which came to nothing. */
export async function removeStagingFolder({ script }: WorkspaceGit, settings: Settings): Promise<void> {
  await script('rm -rf -- "$1"', [folderOf(settings)]);
}

function folderOf({ home }: Settings): string {
  return join(home, ".svc-saved");
}

/**
 * Brings the work tree's changes into the index, but for what is left out.
 * @returns the tree that it holds then
 */
export async function updateIndex(
  { git, must }: WorkspaceGit,
  environment: Readonly<Record<string, string>>,
  { taken, dropped }: Selection,
  excluded: Excluded,
): Promise<string> {
  const drop = ["update-index", "-z", "--force-remove", "--stdin"];
  if (dropped.length > 0)
    await must("git could not leave a file out", drop, { stdin: names(dropped), environment });
  // a file may stand where a folder was
  const paths = taken.toSorted((a, b) => Number(b.isGone) - Number(a.isGone)).map(({ path }) => path);
  for (let unreadable = 0; paths.length > 0; unreadable++) {
    const add = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
    const { code, errors } = await git(add, { stdin: names(paths), environment });
    if (code === 0) break;
    const isIt = (path: string) => errors.endsWith(`fatal: Unable to process path ${path}\n`);
    const at = isDiskFull(errors) ? -1 : paths.findLastIndex(isIt);
    const [path] = at < 0 ? [] : paths.splice(at, 1);
    if (path === undefined || unreadable === UNREADABLE_MAX)
      throw gitFailed("git could not read the work", errors);
    excluded.add(path, "unreadable");
  }
  return (await must("git could not write the work", ["write-tree"], { environment }))
    .toString("latin1")
    .trim();
}

export interface Selection {
  /** What of the work tree goes into the index. */
  taken: Change[];
  /** What of the index is not to be saved. */
  dropped: string[];
}

/** Says what is saved of the changes. */
export function selectChanges(changes: readonly Change[], excluded: Excluded): Selection {
  const taken: Change[] = [];
  const dropped: string[] = [];
  let total = 0;
  // what is in the repository already goes before what is new
  for (const change of changes.toSorted((a, b) => Number(a.isNew) - Number(b.isNew))) {
    const { path, isNew, isUnstaged, isGone, inner, size } = change;
    if (inner === "untracked repository") excluded.add(path, "repository");
    else if (isNew && !isGone && holdsCredentials(path)) {
      excluded.add(path, "credentials");
      dropped.push(path);
    } else if (isUnstaged && isNew && size > FILE_MAX_BYTES) excluded.add(path, "large");
    else if (isUnstaged && total + size > TOTAL_MAX_BYTES) excluded.add(path, "much");
    else if (isUnstaged) {
      if (inner === "changed submodule") excluded.add(path, "submodule");
      total += size;
      taken.push(change);
    }
  }
  return { taken, dropped };
}

function names(paths: readonly string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), "latin1");
}
