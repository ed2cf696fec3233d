import { eq } from "drizzle-orm";
import { projectManifests } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { schedulePoll } from "../projects/schedule-poll.ts";
import { tipOf } from "./tip.ts";

/** How long a request waits for the poll. The first fetch of a large repository takes longer and continues. */
const WAIT_MS = 60_000;
/** Between two reads of the row: a poll without news announces nothing. */
const READ_MS = 200;

/**
 * Lists the branches, and waits until the features have the manifest of the default branch's current commit: a push to a
 * git host may not have been noticed yet.
 * @throws branch_missing, repo_unreachable, unavailable when it takes longer than a request waits
 */
export async function catchUp(deps: Deps, project: ProjectRow): Promise<void> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const tip = tipOf(project, await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS));
    const commit = await readCommit(deps, project);
    if (commit === tip) return;
    await deps.db.transaction((tx) => schedulePoll(deps, tx, project.projectId));
    deps.changes.notify("branch");
    // a poll that began earlier may still record an earlier commit
    while ((await readCommit(deps, project)) === commit) {
      if (performance.now() > end) throw tooLate(tip, project);
      await deps.changes.wait("project", READ_MS);
    }
  }
}

/** The commit of the manifest in effect. */
async function readCommit({ db }: Pick<Deps, "db">, { projectId }: ProjectRow): Promise<string | null> {
  const [row] = await db
    .select({ commit: projectManifests.commit })
    .from(projectManifests)
    .where(eq(projectManifests.projectId, projectId));
  return row?.commit ?? null;
}

function tooLate(tip: string, { defaultBranch }: ProjectRow): SvcError {
  const sentence = `svc is still reading the commit ${tip.slice(0, 12)} of "${defaultBranch}". That continues; try again in a moment.`;
  return new SvcError("unavailable", sentence, {}, { "Retry-After": "10" });
}
