import { isDeepStrictEqual } from "node:util";
import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projects } from "../../../db/schema/index.ts";
import type { readManifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestFile } from "./policy.ts";

/** The protection rules in the manifest on the default branch, which is itself always protected. */
export type Protection = Pick<
  ProjectRow,
  | "requiredApprovals"
  | "selfApproval"
  | "requireCodeOwnerReview"
  | "requiredChecks"
  | "protectedBranches"
  | "protectedTags"
  | "mergeMethods"
  | "mergeQueue"
  | "mergeTimeoutMinutes"
>;

/** The required approvals when the manifest sets an invalid number. */
const INVALID_RULE_APPROVALS = 1;
/** How long a read waits for the current rules. A fetch of a few commits takes less. */
const READ_MS = 500;

/**
 * The protection rules in the manifest on the default branch (contract: Manifest). The last valid rules stay in force until
 * new ones can be read, so an invalid file removes none. They are stored with their commit and read once.
 * @throws SvcError when the repository does not respond
 */
export async function readProtection(
  deps: Deps,
  project: ProjectRow,
  listing: Branches,
): Promise<Protection> {
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || tip === project.policyCommit) return project;
  const read = await readManifestFile(deps, project, listing);
  if (!read?.manifest) return await storedProtection(deps.db, project);
  const { rules, isInvalid } = rulesOf(read.manifest, read.errors);
  if (isInvalid) return strictest(rules, await storedProtection(deps.db, project));
  await keep(deps, project, rules, tip);
  return rules;
}

/** The stored rules, which another request may have updated. */
export async function storedProtection(db: Db, project: ProjectRow): Promise<Protection> {
  const { requiredApprovals, selfApproval, requiredChecks, protectedBranches, protectedTags } = projects;
  const { requireCodeOwnerReview, mergeMethods, mergeQueue, mergeTimeoutMinutes } = projects;
  const [row] = await db
    .select({
      requiredApprovals,
      selfApproval,
      requireCodeOwnerReview,
      requiredChecks,
      protectedBranches,
      protectedTags,
      mergeMethods,
      mergeQueue,
      mergeTimeoutMinutes,
    })
    .from(projects)
    .where(eq(projects.projectId, project.projectId));
  return row ?? project;
}

/** Stores and announces the rules, unless another request has stored rules meanwhile. */
async function keep(deps: Deps, project: ProjectRow, rules: Protection, tip: string): Promise<void> {
  const { projectId } = project;
  const isUnchanged = and(
    eq(projects.projectId, projectId),
    sql`${projects.policyCommit} is not distinct from ${project.policyCommit}`,
  );
  await deps.db.transaction(async (tx) => {
    const [kept] = await tx
      .update(projects)
      .set({ ...rules, policyCommit: tip })
      .where(isUnchanged)
      .returning({ id: projects.projectId });
    if (kept && isSeen(rules, project))
      await publish(tx, projectId, { type: "project", id: projectId, action: "changed" });
  });
}

/** Whether pages of change requests show that these rules differ. */
function isSeen(rules: Protection, stored: Protection): boolean {
  const seen = (each: Protection) => [
    each.requiredApprovals,
    each.requireCodeOwnerReview,
    each.requiredChecks,
    each.mergeMethods,
    each.mergeQueue,
  ];
  return !isDeepStrictEqual(seen(rules), seen(stored));
}

/**
 * The same for a read request, which does not wait for a long fetch: returns the stored rules if the current ones take
 * longer. These are announced as a change of the project when they arrive.
 */
export async function knownProtection(
  deps: Deps,
  project: ProjectRow,
  listing: Branches | null,
): Promise<Protection> {
  if (!listing) return await storedProtection(deps.db, project);
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || tip === project.policyCommit) return project;
  const read = readProtection(deps, project, listing).catch((error: unknown) => {
    deps.log.debug({ project: project.projectId, err: error }, "cannot read the protection rules");
    return project;
  });
  return await Promise.race([read, Bun.sleep(READ_MS).then(() => project)]);
}

type ManifestRead = ReturnType<typeof readManifest>;

/** The protection rules of a manifest, and whether some of them are invalid. */
function rulesOf(
  { changeRequests, merge, checks, branches, tags }: NonNullable<ManifestRead["manifest"]>,
  errors: ManifestRead["errors"],
): { rules: Protection; isInvalid: boolean } {
  const hasError = (path: RegExp) =>
    errors.some((error) => error.severity === "error" && path.test(error.path));
  const isCountInvalid = hasError(/^change_requests(?:\.required_approvals)?$/);
  return {
    rules: {
      requiredApprovals: isCountInvalid ? INVALID_RULE_APPROVALS : changeRequests.requiredApprovals,
      selfApproval: changeRequests.selfApproval,
      requireCodeOwnerReview: changeRequests.requireCodeOwnerReview,
      requiredChecks: checks.required,
      protectedBranches: branches.protected,
      protectedTags: tags.protected,
      mergeMethods: changeRequests.methods,
      mergeQueue: merge.queue,
      mergeTimeoutMinutes: merge.timeoutMinutes,
    },
    isInvalid: isCountInvalid || hasError(/^(?:branches|tags|checks|merge|change_requests\.methods)\b/),
  };
}

/** The stricter of each two rules. Of methods and of times none is stricter than another: those of `other` stay. */
function strictest(one: Protection, other: Protection): Protection {
  const union = (a: string[], b: string[]) => [...new Set([...a, ...b])];
  return {
    requiredApprovals: Math.max(one.requiredApprovals, other.requiredApprovals),
    selfApproval: one.selfApproval && other.selfApproval,
    requireCodeOwnerReview: one.requireCodeOwnerReview || other.requireCodeOwnerReview,
    requiredChecks: union(one.requiredChecks, other.requiredChecks),
    protectedBranches: union(one.protectedBranches, other.protectedBranches),
    protectedTags: union(one.protectedTags, other.protectedTags),
    mergeMethods: other.mergeMethods,
    mergeQueue: one.mergeQueue || other.mergeQueue,
    mergeTimeoutMinutes: other.mergeTimeoutMinutes,
  };
}
