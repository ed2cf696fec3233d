import type { MergeQueue } from "../../../contract/merge-queue.ts";
import type { Deps } from "../../../deps.ts";
import { checkBranchName } from "../../../git/refs.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { presentAll } from "../present.ts";
import { entriesOf } from "./row.ts";

/** The merge queue of a branch: the default branch unless another is named. @throws invalid_ref */
export async function listQueue(
  deps: Deps,
  project: ProjectRow,
  base: string | undefined,
): Promise<MergeQueue> {
  const baseRef = base === undefined ? project.defaultBranch : checkBranchName(base);
  const entries = await entriesOf(deps.db, project.projectId);
  const rows = entries.filter(({ queued }) => queued.baseRef === baseRef).map(({ cr }) => cr);
  return { base_ref: baseRef, entries: await presentAll(deps, project, rows, null) };
}
