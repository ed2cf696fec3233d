import { randomUUID } from "node:crypto";
import { and, asc, eq } from "drizzle-orm";
import { isForeignKeyViolation } from "../../db/errors.ts";
import { accountMembers, projects } from "../../db/schema/index.ts";
import type { Caller, ProjectRow } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { NAME_MAX } from "../contract/limits.ts";
import type { CreateProjectBody, Project } from "../contract/project.ts";
import type { Deps } from "../deps.ts";
import { storable } from "../http/text.ts";
import { slugCandidate, slugify } from "../slug.ts";
import { checkRepository, chooseCredential } from "./check-repository.ts";
import { sealCredential } from "./repository.ts";
import { toWire } from "./wire.ts";

/**
 * Makes a project on an external repository. Nothing is stored unless the repository answers.
 * @throws validation_failed, forbidden (not a member of the account), and what `checkRepository` throws.
 */
export async function createProject(deps: Deps, caller: Caller, body: CreateProjectBody): Promise<Project> {
  const name = storable("name", body.name.trim(), NAME_MAX * 4);
  const accountId = await accountFor(deps, caller, body.account_id);
  if (body.repo_url === undefined) {
    throw new SvcError(
      "validation_failed",
      "repo_url is required: the address of the repository on its git host.",
      {
        details: [{ path: "repo_url", message: "is required" }],
      },
    );
  }
  const remote = await deps.git.checkRemote(body.repo_url);
  const credential = chooseCredential(
    { username: body.git_username, token: body.git_token },
    remote.credential,
  );
  const mirrorId = randomUUID();
  const defaultBranch = await checkRepository(
    deps,
    { id: mirrorId, url: remote.url, credential },
    body.default_branch,
  );
  const projectId = randomUUID();
  const row = await insert(deps, {
    projectId,
    accountId,
    name,
    repoUrl: remote.url,
    defaultBranch,
    mirrorId,
    gitCredential: credential && sealCredential(deps, projectId, credential),
  });
  return toWire(row);
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
  if (!membership) throw new SvcError("forbidden", "You are not a member of that account.");
  return membership.accountId;
}

async function insert(deps: Deps, values: Omit<typeof projects.$inferInsert, "slug">): Promise<ProjectRow> {
  const slug = slugify(values.name, "project");
  for (let attempt = 0; ; attempt++) {
    try {
      const [row] = await deps.db
        .insert(projects)
        .values({ ...values, slug: slugCandidate(slug, attempt) })
        .onConflictDoNothing({ target: projects.slug })
        .returning();
      if (row) return row;
    } catch (error) {
      if (isForeignKeyViolation(error))
        throw new SvcError("not_found", "The account was deleted in the meantime.");
      throw error;
    }
  }
}
