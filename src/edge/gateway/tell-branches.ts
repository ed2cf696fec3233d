import type { Deps } from "../../deps.ts";
import { announce, type News } from "../../events/announce.ts";
import { schedulePoll } from "../../features/projects/schedule-poll.ts";
import type { ReceiveRequest } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

type Changed = Parameters<NonNullable<ReceiveRequest["changed"]>>[0];

/** Branches of one push that are told: whoever pushes more copies a repository, and looks at it as a whole. */
const TOLD_MAX = 100;
const HEADS = "refs/heads/";

/**
 * Tells who follows the project of the branches that a push has moved. The push has happened: what cannot be told now is
 * seen by the next who looks.
 */
export async function tellBranches(deps: Deps, project: ProjectRow, refs: Changed): Promise<void> {
  const { projectId, defaultBranch } = project;
  const news = refs
    .filter(({ ref }) => ref.startsWith(HEADS))
    .slice(0, TOLD_MAX)
    .map(({ ref, kind }): News => ({ type: "branch", id: ref.slice(HEADS.length), action: kind }));
  try {
    await deps.db.transaction(async (tx) => {
      if (refs.some(({ ref }) => ref === HEADS + defaultBranch)) await schedulePoll(deps, tx, projectId);
      await announce(tx, projectId, ...news);
    });
  } catch (error) {
    deps.log.warn({ project: projectId, err: error }, "a push could not be told of");
  }
}
