import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import type { Branches } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { knownProtection } from "../../projects/protection.ts";
import { type CrRow, changeOf } from "../row.ts";
import { knownOwnership } from "./ownership.ts";

/** How long a read waits. What arrives later is announced. */
const READ_MS = 1_000;

/**
 * Reads for a reader of an open change request who owns its files, if the project requires a review from code owners. One that
 * cannot be read stays `pending`.
 */
export async function followOwnership(
  deps: Deps,
  project: ProjectRow,
  row: CrRow,
  listing: Branches,
): Promise<void> {
  const base = listing.tips.get(row.baseRef);
  const head = listing.tips.get(row.headRef);
  if (row.status !== "open" || base === undefined || head === undefined) return;
  const { requireCodeOwnerReview } = await knownProtection(deps, project, listing);
  if (!requireCodeOwnerReview) return;
  let isLate = false;
  const read = knownOwnership(deps, project, row, { base, head })
    .then(async () => {
      if (isLate) await deps.db.transaction((tx) => publish(tx, project.projectId, changeOf(row)));
    })
    .catch((error: unknown) => deps.log.debug({ cr: row.crId, err: error }, "cannot read the code owners"));
  const late = Bun.sleep(READ_MS).then(() => {
    isLate = true;
  });
  await Promise.race([read, late]);
}
