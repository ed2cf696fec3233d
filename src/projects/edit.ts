import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { projects } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { NAME_MAX } from "../contract/limits.ts";
import type { EditProjectBody, GitCredentialBody, Project } from "../contract/project.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../events/announce.ts";
import { storable } from "../http/text.ts";
import { checkRepository, chooseCredential } from "./check-repository.ts";
import { lookAgain } from "./look-again.ts";
import { repositoryOf, sealCredential } from "./repository.ts";
import { toWire } from "./wire.ts";

/**
 * Changes a project's name, repository or default branch. A new `repo_url` gets a mirror of its own; the stored
 * credential goes along only to the same host, so that no credential is ever sent to a host it was not given for.
 * @throws validation_failed for a `repo_url` when svc hosts the repository, and what `checkRepository` throws; nothing
 *   is changed then.
 */
export async function editProject(deps: Deps, project: ProjectRow, body: EditProjectBody): Promise<Project> {
  const changes: Partial<typeof projects.$inferInsert> = {};
  if (body.name !== undefined) changes.name = storable("name", body.name.trim(), NAME_MAX * 4);
  let repo = repositoryOf(deps, project);
  if (body.repo_url !== undefined) {
    requireRemote(project);
    const remote = await deps.git.checkRemote(body.repo_url);
    const kept = sameHost(remote.url, project.repoUrl) ? repo.credential : null;
    const credential = remote.credential ?? kept;
    if (remote.url !== project.repoUrl) repo = { id: randomUUID(), url: remote.url, credential };
    else repo = { ...repo, credential };
    changes.repoUrl = repo.url;
    changes.mirrorId = repo.id;
    changes.gitCredential = credential && sealCredential(deps, project.projectId, credential);
  }
  if (body.repo_url !== undefined || body.default_branch !== undefined) {
    changes.defaultBranch = await checkRepository(deps, repo, body.default_branch);
  }
  const row = await update(deps, project, changes);
  if (row.mirrorId !== project.mirrorId) await deps.git.forget(project.mirrorId);
  return toWire(deps, row);
}

/** Stores the host credential, encrypted; it replaces the one before. */
export async function storeGitCredential(
  deps: Deps,
  project: ProjectRow,
  body: GitCredentialBody,
): Promise<{ ok: true }> {
  requireRemote(project);
  const credential = chooseCredential(body, null);
  if (!credential) throw new SvcError("validation_failed", "token is required.");
  await checkRepository(deps, { ...repositoryOf(deps, project), credential }, undefined);
  await update(deps, project, { gitCredential: sealCredential(deps, project.projectId, credential) });
  return { ok: true };
}

function requireRemote(project: ProjectRow): void {
  if (project.repoUrl !== null) return;
  const sentence =
    "svc hosts this project's repository, so it has no other address and no credential. Make another project for a repository on a git host.";
  throw new SvcError("validation_failed", sentence);
}

async function update(
  deps: Deps,
  project: ProjectRow,
  changes: Partial<typeof projects.$inferInsert>,
): Promise<ProjectRow> {
  const { projectId } = project;
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projects)
      .set({ ...changes, updatedAt: deps.clock() })
      .where(eq(projects.projectId, projectId))
      .returning();
    if (!row) throw new SvcError("not_found", "The project was deleted in the meantime.");
    await lookAgain(deps, tx, projectId);
    await announce(tx, projectId, { type: "project", id: projectId, action: "changed" });
    return row;
  });
}

function sameHost(one: string, other: string | null): boolean {
  const authority = (url: string | null) =>
    /^[a-z+]+:\/\/(?:[^@/]*@)?([^/]*)/.exec(url ?? "")?.[0].replace(/\/\/[^@/]*@/, "//");
  const mine = authority(one);
  return mine !== undefined && mine === authority(other);
}
