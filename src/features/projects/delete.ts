import { eq } from "drizzle-orm";
import { isDeadlock } from "../../../db/errors.ts";
import { projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publishDeletion } from "../../events/publish.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";

/** Each deadlock ends after a second, with one of the transactions. */
const ATTEMPTS = 5;

/**
 * Deletes a project with its change requests, tokens and mirror, and the repository if svc hosts it. A repository on a
 * git host stays.
 */
export async function deleteProject(deps: Deps, caller: Caller, project: ProjectRow): Promise<{ ok: true }> {
  await deleteRows(deps, caller, project, ATTEMPTS);
  await deps.git.forget(project.mirrorId);
  return { ok: true };
}

/** Transactions that work on the project lock its rows in other orders, so that this one can deadlock with each of them. */
async function deleteRows(deps: Deps, caller: Caller, project: ProjectRow, attempts: number): Promise<void> {
  const { projectId, slug } = project;
  try {
    await deps.db.transaction(async (tx) => {
      const gone = await tx
        .delete(projects)
        .where(eq(projects.projectId, projectId))
        .returning({ projectId: projects.projectId });
      if (gone.length > 0)
        await audit(tx, caller, { action: "project.deleted", target: slug, targetId: projectId, project });
      await publishDeletion(tx, projectId);
    });
  } catch (error) {
    if (!isDeadlock(error) || attempts <= 1) throw error;
    await deleteRows(deps, caller, project, attempts - 1);
  }
}
