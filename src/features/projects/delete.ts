import { eq } from "drizzle-orm";
import { projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publishDeletion } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/**
 * Deletes a project with its change requests, tokens and mirror, and the repository if svc hosts it. A repository on a
 * git host stays.
 */
export async function deleteProject(deps: Deps, project: ProjectRow): Promise<{ ok: true }> {
  const { projectId } = project;
  await deps.db.transaction(async (tx) => {
    await tx.delete(projects).where(eq(projects.projectId, projectId));
    await publishDeletion(tx, projectId);
  });
  await deps.git.forget(project.mirrorId);
  return { ok: true };
}
