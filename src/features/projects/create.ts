import { randomUUID } from "node:crypto";
import { and, asc, eq } from "drizzle-orm";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import { accountMembers, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { CreateProjectBody, Project } from "../../contract/project.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Repository } from "../../git/git.ts";
import { checkBranchName } from "../../git/refs.ts";
import { storable } from "../../http/text.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { slugCandidate, slugify } from "../../lib/slug.ts";
import { checkRepository, chooseCredential, FIRST_BRANCH } from "./check-repository.ts";
import { sealCredential } from "./repository.ts";
import { schedulePoll } from "./schedule-poll.ts";
import { toWire } from "./wire.ts";

/**
 * Creates a project for a repository on a git host, or, without a `repo_url`, for a new one that svc hosts. Stores
 * nothing unless the repository responds.
 * @throws validation_failed, forbidden (not a member of the account), and what `checkRepository` throws.
 */
export async function createProject(deps: Deps, caller: Caller, body: CreateProjectBody): Promise<Project> {
  const name = storable("name", body.name.trim(), NAME_MAX * 4);
  const accountId = await accountFor(deps, caller, body.account_id);
  const common = { projectId: randomUUID(), mirrorId: randomUUID(), accountId, name };
  const row =
    body.repo_url === undefined
      ? await createHosted(deps, caller, common, body)
      : await createRemote(deps, caller, common, body, body.repo_url);
  return toWire(deps, row);
}

type Common = Pick<ProjectRow, "projectId" | "mirrorId" | "accountId" | "name">;

async function createHosted(
  deps: Deps,
  caller: Caller,
  common: Common,
  body: CreateProjectBody,
): Promise<ProjectRow> {
  if (body.git_token !== undefined || body.git_username !== undefined) {
    const sentence = "A git credential requires repo_url, the URL of a repository on a git host.";
    throw new SvcError("validation_failed", sentence, {
      details: [{ path: "repo_url", message: "is required with a credential" }],
    });
  }
  const defaultBranch = checkBranchName(body.default_branch ?? FIRST_BRANCH);
  const repo: Repository = { id: common.mirrorId, url: null, credential: null };
  await deps.git.host(repo, defaultBranch);
  try {
    return await insert(deps, caller, { ...common, repoUrl: null, defaultBranch });
  } catch (error) {
    await deps.git.forget(repo.id);
    throw error;
  }
}

async function createRemote(
  deps: Deps,
  caller: Caller,
  common: Common,
  body: CreateProjectBody,
  url: string,
): Promise<ProjectRow> {
  const remote = await deps.git.checkRemote(url);
  const given = { username: body.git_username, token: body.git_token };
  const credential = chooseCredential(given, remote.credential);
  const repo: Repository = { id: common.mirrorId, url: remote.url, credential };
  const defaultBranch = await checkRepository(deps, repo, body.default_branch);
  const gitCredential = credential && sealCredential(deps, common.projectId, credential);
  return await insert(deps, caller, { ...common, repoUrl: remote.url, defaultBranch, gitCredential });
}

async function accountFor(deps: Deps, caller: Caller, wanted: string | undefined): Promise<string> {
  const [membership] = await deps.db
    .select({ accountId: accountMembers.accountId })
    .from(accountMembers)
    .where(
      and(
        eq(accountMembers.userId, caller.userId),
        wanted === undefined ? undefined : eq(accountMembers.accountId, wanted),
      ),
    )
    .orderBy(asc(accountMembers.createdAt), asc(accountMembers.accountId))
    .limit(1);
  if (!membership)
    throw new SvcError(
      "forbidden",
      "You are not a member of the account that account_id names. List yours with: svc whoami",
    );
  return membership.accountId;
}

async function insert(
  deps: Deps,
  caller: Caller,
  values: Omit<typeof projects.$inferInsert, "slug">,
): Promise<ProjectRow> {
  const slug = slugify(values.name, "project");
  for (let attempt = 0; ; attempt++) {
    try {
      const row = await deps.db.transaction(async (tx) => {
        const [inserted] = await tx
          .insert(projects)
          .values({ ...values, slug: slugCandidate(slug, attempt) })
          .onConflictDoNothing({ target: projects.slug })
          .returning();
        if (inserted) {
          const { projectId } = inserted;
          await schedulePoll(deps, tx, projectId);
          const entry = { action: "project.created", target: inserted.slug, targetId: projectId } as const;
          const details = { repo_url: inserted.repoUrl, default_branch: inserted.defaultBranch };
          await audit(tx, caller, { ...entry, project: inserted, details });
          await publish(tx, projectId, { type: "project", id: projectId, action: "created" });
        }
        return inserted;
      });
      if (row) return row;
    } catch (error) {
      if (isForeignKeyViolation(error))
        throw new SvcError(
          "not_found",
          "The account was deleted while this request ran. List yours with: svc whoami",
        );
      throw error;
    }
  }
}
