import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import { schedulePoll } from "../../features/projects/schedule-poll.ts";
import type { ReceiveRequest } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

type Changed = Parameters<NonNullable<ReceiveRequest["changed"]>>[0];

/** The most branches of one push that are published: a larger push copies a repository. */
const PUBLISHED_MAX = 100;
const HEADS = "refs/heads/";

/**
 * Publishes the branches that a push has updated. The push has succeeded by then, so a failure here is only logged.
 */
export async function publishBranches(deps: Deps, project: ProjectRow, refs: Changed): Promise<void> {
  const { projectId } = project;
  const changes = refs
    .filter(({ ref }) => ref.startsWith(HEADS))
    .slice(0, PUBLISHED_MAX)
    .map(({ ref, kind }): ProjectChange => ({ type: "branch", id: ref.slice(HEADS.length), action: kind }));
  try {
    await deps.db.transaction(async (tx) => {
      if (changes.length > 0) await schedulePoll(deps, tx, projectId);
      await publish(tx, projectId, ...changes);
    });
  } catch (error) {
    deps.log.warn({ project: projectId, err: error }, "cannot publish the branches of a push");
  }
}
