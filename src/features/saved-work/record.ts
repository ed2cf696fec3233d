import { eq } from "drizzle-orm";
import { projectSessions, sessionSandboxes } from "../../../db/schema/index.ts";
import { savedRef } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { findSavedBase, savedDiff } from "./diff.ts";

/** Writes down what the repository keeps of a session's work now; null: nothing. Before the daemon is told. */
export async function recordSaved(
  deps: Deps,
  project: ProjectRow,
  { id: sessionId, branch }: { id: string; branch: string },
  commit: string | null,
): Promise<void> {
  const files = commit === null ? null : await countFiles(deps, project, branch, commit);
  // that of the sandbox which saves: a session that is to be restarted has the next one already
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

/** How many files are other than on the branch; null when that cannot be told now. */
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

/** A copy of the repository that was rebuilt gets what was saved from its host, before the daemon asks for it. */
export async function bringSaved(deps: Deps, project: ProjectRow, sessionId: string): Promise<void> {
  const [row] = await deps.db
    .select({ commit: projectSessions.savedCommit })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, sessionId));
  if (!row?.commit) return;
  // without it, what was saved is gone, and the work is saved anew
  await deps.git.ensureOwn(repositoryOf(deps, project), savedRef(sessionId), row.commit).catch(() => {});
}
