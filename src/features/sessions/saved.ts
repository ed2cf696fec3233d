import { eq } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import { savedRef } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import type { SavedWork } from "../../contract/saved-work.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { readCommit } from "../projects/commit.ts";
import { diffJson, patchResponse } from "../projects/diff.ts";
import { repositoryOf } from "../projects/repository.ts";
import { findSavedBase, savedDiff } from "../saved-work/diff.ts";
import { findSession } from "./read.ts";
import type { SessionRow } from "./row.ts";

/**
 * A session's work that is saved and not pushed, as the JSON of a `SavedWork`. The patch is truncated as a change
 * request's diff is.
 * @throws not_found, validation_failed, repo_unreachable, merge_engine_failed
 */
export async function readSaved(deps: Deps, project: ProjectRow, sessionId: string): Promise<string> {
  const { commit, at, base } = await findSaved(deps, project, sessionId);
  const repo = repositoryOf(deps, project);
  const { subject, body } = (await readCommit(deps, repo, commit)) ?? { subject: "", body: "" };
  return await diffJson<SavedWork>(deps, repo, savedDiff(base, commit), ({ files, truncated }) => ({
    commit,
    base,
    saved_at: at.toISOString(),
    message: `${subject}\n\n${body}`.trim(),
    files,
    truncated,
  }));
}

/** The whole patch. @throws as above */
export async function streamSaved(deps: Deps, project: ProjectRow, sessionId: string): Promise<Response> {
  const { commit, base } = await findSaved(deps, project, sessionId);
  const repo = repositoryOf(deps, project);
  return patchResponse(deps, repo, savedDiff(base, commit));
}

async function findSaved(
  deps: Deps,
  project: ProjectRow,
  sessionId: string,
): Promise<{ commit: string; at: Date; base: string | null }> {
  const { session } = await findSession(deps, project, sessionId);
  const { savedCommit: commit, savedAt: at, branchName } = session;
  if (commit === null || at === null)
    throw new SvcError(
      "not_found",
      `Session ${session.sessionId} has no saved work: all of its work is on its branch, ${branchName}.`,
    );
  if (!(await isAvailable(deps, project, session, commit)))
    throw new SvcError(
      "not_found",
      `The saved work of session ${session.sessionId} (commit ${commit}) is no longer in svc's copy of the repository, so it cannot be restored.`,
    );
  return { commit, at, base: await findSavedBase(deps, project, branchName, commit) };
}

/** The saved work that a start restores; null: none. */
export async function commitToRestore(
  deps: Deps,
  { session, project }: { session: SessionRow; project: ProjectRow },
): Promise<string | null> {
  if (!session.restores) return null;
  // read again: the sandbox that was stopped for this start has just saved its work
  const [row] = await deps.db
    .select({ commit: projectSessions.savedCommit })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, session.sessionId));
  const commit = row?.commit ?? null;
  // if it is gone, the daemon cannot fetch it, and reports that
  if (commit !== null) await isAvailable(deps, project, session, commit).catch(() => false);
  return commit;
}

function isAvailable(
  deps: Deps,
  project: ProjectRow,
  { sessionId }: SessionRow,
  commit: string,
): Promise<boolean> {
  return deps.git.ensureOwn(repositoryOf(deps, project), savedRef(sessionId), commit);
}
