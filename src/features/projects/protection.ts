import { and, eq, sql } from "drizzle-orm";
import { projects } from "../../../db/schema/index.ts";
import type { readManifest } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { readManifestFile } from "./policy.ts";

/** What the manifest on the default branch protects, beside that branch itself. */
export type Protection = Pick<
  ProjectRow,
  "requiredApprovals" | "selfApproval" | "protectedBranches" | "protectedTags"
>;

/** A rule is stated that cannot be read: one person looks at each change. */
const WRONG_RULE = 1;
/** A fetch of a few commits takes less; who only looks waits no longer. */
const LOOK_MS = 500;

/**
 * What the manifest on the default branch protects (contract: Manifest). The last rules that could be read stand until
 * others can be: a file that was broken takes none away. They are kept with the commit that they were read of, and so
 * are read once.
 * @throws SvcError when the repository does not answer
 */
export async function readProtection(
  deps: Deps,
  project: ProjectRow,
  listing: Branches,
): Promise<Protection> {
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || tip === project.policyCommit) return project;
  const read = await readManifestFile(deps, project, listing);
  if (!read?.manifest) return await stored(deps, project);
  const { rules, isWrong } = rulesOf(read.manifest, read.errors);
  if (isWrong) return atLeast(rules, await stored(deps, project));
  await keep(deps, project, rules, tip);
  return rules;
}

/** As another request may have kept it a moment ago. */
async function stored(deps: Deps, project: ProjectRow): Promise<Protection> {
  const { requiredApprovals, selfApproval, protectedBranches, protectedTags, projectId } = projects;
  const [row] = await deps.db
    .select({ requiredApprovals, selfApproval, protectedBranches, protectedTags })
    .from(projects)
    .where(eq(projectId, project.projectId));
  return row ?? project;
}

/** What was read of an older commit is not kept where a newer one was read meanwhile. A change is published. */
async function keep(deps: Deps, project: ProjectRow, rules: Protection, tip: string): Promise<void> {
  const { projectId } = project;
  const isAsBefore = and(
    eq(projects.projectId, projectId),
    sql`${projects.policyCommit} is not distinct from ${project.policyCommit}`,
  );
  await deps.db.transaction(async (tx) => {
    const [kept] = await tx
      .update(projects)
      .set({ ...rules, policyCommit: tip })
      .where(isAsBefore)
      .returning({ id: projects.projectId });
    if (kept && rules.requiredApprovals !== project.requiredApprovals)
      await publish(tx, projectId, { type: "project", id: projectId, action: "changed" });
  });
}

/**
 * The same for a request that only looks, and waits for no long fetch: the last rules that were read, while the newest
 * are on their way. Then a change of the project is published.
 */
export async function knownProtection(
  deps: Deps,
  project: ProjectRow,
  listing: Branches | null,
): Promise<Protection> {
  if (!listing) return await stored(deps, project);
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || tip === project.policyCommit) return project;
  const read = readProtection(deps, project, listing).catch((error: unknown) => {
    deps.log.debug({ project: project.projectId, err: error }, "the protection could not be read");
    return project;
  });
  return await Promise.race([read, Bun.sleep(LOOK_MS).then(() => project)]);
}

type ManifestRead = ReturnType<typeof readManifest>;

/** What a manifest says of protection, and whether some of that cannot be read. */
function rulesOf(
  { changeRequests, branches, tags }: NonNullable<ManifestRead["manifest"]>,
  errors: ManifestRead["errors"],
): { rules: Protection; isWrong: boolean } {
  const wrong = (path: RegExp) => errors.some((error) => error.severity === "error" && path.test(error.path));
  const isWrongCount = wrong(/^change_requests(?:\.required_approvals)?$/);
  return {
    rules: {
      requiredApprovals: isWrongCount ? WRONG_RULE : changeRequests.requiredApprovals,
      selfApproval: changeRequests.selfApproval,
      protectedBranches: branches.protected,
      protectedTags: tags.protected,
    },
    isWrong: isWrongCount || wrong(/^(?:branches|tags)\b/),
  };
}

/** The stricter of each two. */
function atLeast(one: Protection, other: Protection): Protection {
  const union = (a: string[], b: string[]) => [...new Set([...a, ...b])];
  return {
    requiredApprovals: Math.max(one.requiredApprovals, other.requiredApprovals),
    selfApproval: one.selfApproval && other.selfApproval,
    protectedBranches: union(one.protectedBranches, other.protectedBranches),
    protectedTags: union(one.protectedTags, other.protectedTags),
  };
}
