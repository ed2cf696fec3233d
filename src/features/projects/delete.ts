import { eq } from "drizzle-orm";
import { isDeadlock } from "../../../db/errors.ts";
import { projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publishDeletion } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** Each deadlock ends after a second, with one of the transactions. */
const ATTEMPTS = 5;

/**
 * Deletes a project with its change requests, tokens and mirror, and the repository if svc hosts it. A repository on a
 * git host stays.
 */
export async function deleteProject(deps: Deps, project: ProjectRow): Promise<{ ok: true }> {
  const { projectId } = project;
  await deleteRows(deps, projectId, ATTEMPTS);
  await deps.git.forget(project.mirrorId);
  return { ok: true };
}

/** Transactions that work on the project lock its rows in other orders, so that this one can deadlock with each of them. */
async function deleteRows(deps: Deps, projectId: string, attempts: number): Promise<void> {
  try {
    await deps.db.transaction(async (tx) => {
      await tx.delete(projects).where(eq(projects.projectId, projectId));
      await publishDeletion(tx, projectId);
    });
  } catch (error) {
    if (!isDeadlock(error) || attempts <= 1) throw error;
    await deleteRows(deps, projectId, attempts - 1);
  }
}
