import type { Excluded } from "./excluded.ts";
import { holdsCredentials } from "./secrets.ts";
import type { Change } from "./workspace-status.ts";

/** Limits of one new file, and of all changed files: larger ones are usually a build's output. */
const FILE_MAX_BYTES = 50 * 1024 * 1024;
const TOTAL_MAX_BYTES = 256 * 1024 * 1024;

export interface Selection {
  /** Changes of the work tree to stage. */
  included: Change[];
  /** Staged paths that must not be saved. */
  removed: string[];
}

/** Selects the changes to save, and excludes credentials, nested repositories and large files. */
export function selectChanges(changes: readonly Change[], excluded: Excluded): Selection {
  const selection: Selection = { included: [], removed: [] };
  let total = 0;
  // files of the repository first, so that the limit excludes new ones
  for (const change of changes.toSorted((a, b) => Number(a.isNew) - Number(b.isNew))) {
    const { path, isNew, isUnstaged, isGone, inner, size } = change;
    if (inner === "untracked repository") excluded.add(path, "repository");
    else if (isNew && !isGone && holdsCredentials(path)) {
      excluded.add(path, "credentials");
      selection.removed.push(path);
    } else if (isUnstaged && isNew && size > FILE_MAX_BYTES) excluded.add(path, "large");
    else if (isUnstaged && total + size > TOTAL_MAX_BYTES) excluded.add(path, "much");
    else if (isUnstaged) {
      if (inner === "changed submodule") excluded.add(path, "submodule");
      total += size;
      selection.included.push(change);
    }
  }
  return selection;
}
