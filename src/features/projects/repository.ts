import type { Deps } from "../../deps.ts";
import type { Credential, Repository } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

const PURPOSE = "git-credential";

/** What a project's row says about its repository. */
export type RepositoryRow = Pick<ProjectRow, "projectId" | "mirrorId" | "repoUrl" | "gitCredential">;

/** The project's repository: the id of the mirror, the URL and the decrypted credential. */
export function repositoryOf(deps: Pick<Deps, "keys">, project: RepositoryRow): Repository {
  return { id: project.mirrorId, url: project.repoUrl, credential: openCredential(deps, project) };
}

/** Encrypts a git host credential for the project's row. */
export function sealCredential(deps: Deps, projectId: string, credential: Credential): string {
  return deps.keys.seal(projectId, PURPOSE, JSON.stringify([credential.username, credential.token]));
}

function openCredential(deps: Pick<Deps, "keys">, project: RepositoryRow): Credential | null {
  if (project.gitCredential === null) return null;
  const pair: unknown = JSON.parse(deps.keys.open(project.projectId, PURPOSE, project.gitCredential));
  if (!Array.isArray(pair)) throw new Error("a stored credential is not a pair");
  const [username, token]: unknown[] = pair;
  if (typeof username !== "string" || typeof token !== "string")
    throw new Error("a stored credential is not a pair");
  return { username, token };
}
