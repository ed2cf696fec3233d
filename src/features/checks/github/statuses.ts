import type { CommitStatus } from "../../../contract/commit-status.ts";
import type { GithubCombinedStatus, GithubStatus } from "../../../contract/github.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { combinedStatusOf, stateOf } from "../statuses.ts";

/** The statuses of a commit without its check runs, which GitHub lists separately. */
export async function githubCombinedStatusOf(
  deps: Pick<Deps, "db">,
  project: ProjectRow,
  sha: string,
): Promise<GithubCombinedStatus> {
  const found = await combinedStatusOf(deps, project, sha);
  const statuses = found.statuses.filter(({ check_run_id }) => check_run_id === null);
  return {
    sha,
    state: stateOf(statuses.map(({ state }) => state)),
    total_count: statuses.length,
    statuses: statuses.map(toGithub),
  };
}

export function toGithub(status: CommitStatus): GithubStatus {
  const { id, state, context, description, target_url, creator, created_at, updated_at } = status;
  return {
    id: numberOf(id),
    ...{ state, context, description, target_url },
    creator: creator && { login: creator.name },
    ...{ created_at, updated_at },
  };
}

/** A number for a UUID: 48 random bits of it, which a double holds exactly. */
function numberOf(uuid: string): number {
  return Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16);
}
