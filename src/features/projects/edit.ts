import { randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { projects } from "../../../db/schema/index.ts";
import type { Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { EditedProject, EditProjectBody, GitCredentialBody, Project } from "../../contract/project.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { repositoryName } from "../../git/remote/remote-url.ts";
import { storable } from "../../http/text.ts";
import { type AuditEntry, audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { requireManager } from "../../identity/auth/guard.ts";
import { checkRepository, chooseCredential } from "./check-repository.ts";
import { repositoryOf, sealCredential } from "./repository.ts";
import { schedulePoll } from "./schedule-poll.ts";
import { toWire } from "./wire.ts";

/**
 * Changes a project's name, repository, default branch or budgets for models; all but the name require an owner or admin,
 * because they decide what is protected and what may be spent. A new repository gets a new mirror and drops the stored credential. The former default branch stays
 * protected.
 * @throws forbidden; validation_failed for a `repo_url` when svc hosts the repository, and what `checkRepository` throws.
 *   Then nothing is changed.
 */
export async function editProject(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  role: Role,
  body: EditProjectBody,
): Promise<EditedProject> {
  if (body.repo_url !== undefined || body.default_branch !== undefined) requireManager(role, ONLY_MANAGERS);
  const { model_budget: budget, model_session_budget: sessionBudget } = body;
  if (budget !== undefined || sessionBudget !== undefined) requireManager(role, ONLY_MANAGERS_BUDGET);
  const changes: Changes = {};
  if (budget !== undefined) changes.modelBudget = budget;
  if (sessionBudget !== undefined) changes.modelSessionBudget = sessionBudget;
  if (body.name !== undefined) changes.name = storable("name", body.name.trim(), NAME_MAX * 4);
  let repo = repositoryOf(deps, project);
  if (body.repo_url !== undefined) {
    requireRemote(project);
    const remote = await deps.git.checkRemote(body.repo_url);
    const isSame = repositoryName(remote.url) === repositoryName(project.repoUrl ?? "");
    const credential = remote.credential ?? (isSame ? repo.credential : null);
    repo = { id: isSame ? repo.id : randomUUID(), url: remote.url, credential };
    changes.repoUrl = repo.url;
    changes.mirrorId = repo.id;
    changes.gitCredential = credential && sealCredential(deps, project.projectId, credential);
  }
  if (body.repo_url !== undefined || body.default_branch !== undefined) {
    const next = await checkRepository(deps, repo, body.default_branch);
    const { defaultBranch: now, formerDefaultBranches: former } = projects;
    changes.defaultBranch = next;
    // computed in the update, so that a default branch that another request sets meanwhile stays protected too
    changes.formerDefaultBranches = sql`array_remove(array_append(array_remove(${former}, ${now}), ${now}), ${next})`;
  }
  // the URL without the credential that it may have
  const details = { ...body, ...(body.repo_url !== undefined && { repo_url: repo.url }) };
  const row = await update(deps, caller, project, changes, { action: "project.edited", details });
  if (row.mirrorId !== project.mirrorId) await deps.git.forget(project.mirrorId);
  const dropped = project.gitCredential !== null && row.gitCredential === null;
  return { ...toWire(deps, row), git_credential_dropped: dropped };
}

/** Stops protecting a former default branch. @throws not_found */
export async function unprotectBranch(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  branch: string,
): Promise<Project> {
  const name = decoded(branch);
  if (!project.formerDefaultBranches.includes(name)) {
    const sentence =
      name === project.defaultBranch
        ? `"${name}" is the default branch, which is always protected. Make another branch the default first.`
        : `"${name}" is not a former default branch. To stop protecting a branch that svc.toml protects, edit svc.toml.`;
    throw new SvcError("not_found", sentence);
  }
  const former = projects.formerDefaultBranches;
  const changes = { formerDefaultBranches: sql`array_remove(${former}, ${name})` };
  const entry = { action: "branch.unprotected", details: { branch: name } } as const;
  return toWire(deps, await update(deps, caller, project, changes, entry));
}

/** The router does not decode wildcards. Invalid encoding stays as it is and names no branch. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const ONLY_MANAGERS =
  "Only an owner or admin of the account can change a project's repository or default branch.";

const ONLY_MANAGERS_BUDGET =
  "Only an owner or admin of the account can change a project's budget for models.";

/** Stores the credential for the git host, encrypted, in place of any earlier one. */
export async function storeGitCredential(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  body: GitCredentialBody,
): Promise<{ ok: true }> {
  requireRemote(project);
  const credential = chooseCredential(body, null);
  if (!credential)
    throw new SvcError(
      "validation_failed",
      "token is required: the token, password or ssh key for the git host.",
    );
  await checkRepository(deps, { ...repositoryOf(deps, project), credential }, undefined);
  const changes = { gitCredential: sealCredential(deps, project.projectId, credential) };
  await update(deps, caller, project, changes, { action: "git_credential.set" });
  return { ok: true };
}

function requireRemote(project: ProjectRow): void {
  if (project.repoUrl !== null) return;
  const sentence =
    "svc hosts the repository of this project, so its URL and credential cannot be set. Create another project for a repository on a git host.";
  throw new SvcError("validation_failed", sentence);
}

/** Columns of a project, as values or SQL expressions. */
type Changes = PgUpdateSetSource<typeof projects>;

async function update(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  changes: Changes,
  entry: Pick<AuditEntry, "action" | "details">,
): Promise<ProjectRow> {
  const { projectId } = project;
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projects)
      .set({ ...changes, updatedAt: deps.clock() })
      .where(eq(projects.projectId, projectId))
      .returning();
    if (!row)
      throw new SvcError(
        "not_found",
        "The project was deleted while this request ran. List yours with: svc projects ls",
      );
    await schedulePoll(deps, tx, projectId);
    await audit(tx, caller, { ...entry, target: row.slug, targetId: projectId, project: row });
    await publish(tx, projectId, { type: "project", id: projectId, action: "changed" });
    return row;
  });
}
