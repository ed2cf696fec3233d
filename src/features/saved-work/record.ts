import { eq } from "drizzle-orm";
import { projectSessions, sessionSandboxes } from "../../../db/schema/index.ts";
import { savedRef } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { findSavedBase, savedDiff } from "./diff.ts";

/** Records the commit of a session's saved work, before the daemon gets its response; null: none. */
export async function recordSaved(
  deps: Deps,
  project: ProjectRow,
  { id: sessionId, branch }: { id: string; branch: string },
  commit: string | null,
): Promise<void> {
  const files = commit === null ? null : await countFiles(deps, project, branch, commit);
  // the generation of the saving sandbox: the run of a session that is being restarted has the next one already
  const [sandbox] = await deps.db
    .select({ generation: sessionSandboxes.generation })
    .from(sessionSandboxes)
    .where(eq(sessionSandboxes.runId, sessionId));
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projectSessions)
      .set({
        savedCommit: commit,
        savedAt: commit === null ? null : deps.clock(),
        savedFiles: files,
        savedGeneration: commit === null ? null : (sandbox?.generation ?? null),
      })
      .where(eq(projectSessions.sessionId, sessionId))
      .returning({ id: projectSessions.sessionId });
    if (row) await publish(tx, project.projectId, { type: "session", id: row.id, action: "changed" });
  });
  deps.changes.notify(sessionId);
}

/** The number of files that differ from the branch; null when that cannot be computed now. */
async function countFiles(
  deps: Deps,
  project: ProjectRow,
  branch: string,
  commit: string,
): Promise<number | null> {
  try {
    const base = await findSavedBase(deps, project, branch, commit);
    const { files } = await deps.git.diff(repositoryOf(deps, project), {
      ...savedDiff(base, commit),
      onPatch: () => false,
    });
    return files.length;
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** Fetches saved work from the git host into a rebuilt copy of the repository, before the daemon requests it. */
export async function fetchSavedWork(deps: Deps, project: ProjectRow, sessionId: string): Promise<void> {
  const [row] = await deps.db
    .select({ commit: projectSessions.savedCommit })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, sessionId));
  if (!row?.commit) return;
  // if that fails, the saved work is gone, and the daemon saves the work again
  await deps.git.ensureOwn(repositoryOf(deps, project), savedRef(sessionId), row.commit).catch(() => {});
}
