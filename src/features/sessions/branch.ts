import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { PATIENT_LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import type { SessionRow } from "./row.ts";

/**
 * Creates the session's branch at the tip of its base (spec 4.4). A session that was started before has its branch,
 * unless it was deleted.
 * @throws ref_not_found, branch_exists, push_rejected, repo_unreachable.
 */
export async function createBranch(
  deps: Deps,
  { session, project }: { session: SessionRow; project: ProjectRow },
): Promise<void> {
  const repo = repositoryOf(deps, project);
  const wasStarted = session.generation > 1 || session.step !== null;
  if (wasStarted) {
    const { tips } = await deps.git.listBranches(repo, PATIENT_LISTING_MS);
    if (tips.has(session.branchName)) return;
  }
  await deps.git.createBranch(repo, { branch: session.branchName, base: session.baseRef });
}
