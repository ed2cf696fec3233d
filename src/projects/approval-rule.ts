import { and, eq, sql } from "drizzle-orm";
import { projects } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { readManifest } from "../contract/manifest/manifest.ts";
import type { Deps } from "../deps.ts";
import { announce } from "../events/announce.ts";
import type { Branches } from "../git/git.ts";
import { readManifestFile } from "./policy.ts";

/** Somebody has stated a rule, and nobody can tell which: one person looks at it. */
const WRONG_RULE = 1;
/** A fetch of a few commits takes less; who only looks waits no longer. */
const LOOK_MS = 500;

/**
 * How many approvals a change request of the project needs: `required_approvals` of the manifest on the default branch.
 * The last rule that could be read stands until another one can be: a file that was broken takes none away. It is kept
 * with the commit that it was read of, and so is read once.
 * @throws SvcError when the repository does not answer
 */
export async function readApprovalRule(deps: Deps, project: ProjectRow, listing: Branches): Promise<number> {
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || tip === project.policyCommit) return project.requiredApprovals;
  const read = await readManifestFile(deps, project, listing);
  const rule = read && ruleOf(read);
  if (rule === null || rule === "wrong") {
    const { requiredApprovals } = await stored(deps, project);
    return rule === "wrong" ? Math.max(requiredApprovals, WRONG_RULE) : requiredApprovals;
  }
  await keep(deps, project, rule, tip);
  return rule;
}

/** As another request may have kept it a moment ago. */
async function stored(deps: Deps, project: ProjectRow): Promise<Pick<ProjectRow, "requiredApprovals">> {
  const { requiredApprovals, projectId } = projects;
  const [row] = await deps.db
    .select({ requiredApprovals })
    .from(projects)
    .where(eq(projectId, project.projectId));
  return row ?? project;
}

/** Who has read an older commit keeps nothing where a newer one was read meanwhile. What has changed is told. */
async function keep(deps: Deps, project: ProjectRow, rule: number, tip: string): Promise<void> {
  const { projectId } = project;
  const values = { requiredApprovals: rule, policyCommit: tip };
  const isAsBefore = and(
    eq(projects.projectId, projectId),
    sql`${projects.policyCommit} is not distinct from ${project.policyCommit}`,
  );
  await deps.db.transaction(async (tx) => {
    const [kept] = await tx
      .update(projects)
      .set(values)
      .where(isAsBefore)
      .returning({ id: projects.projectId });
    if (kept && rule !== project.requiredApprovals)
      await announce(tx, projectId, { type: "project", id: projectId, action: "changed" });
  });
}

/**
 * The same for who only looks, and waits for no long fetch: the last rule that was read, while the newest is on its way.
 * Then it is told of as a change of the project.
 */
export async function knownApprovalRule(
  deps: Deps,
  project: ProjectRow,
  listing: Branches | null,
): Promise<number> {
  if (!listing) return (await stored(deps, project)).requiredApprovals;
  const tip = listing.tips.get(project.defaultBranch);
  if (tip === undefined || tip === project.policyCommit) return project.requiredApprovals;
  const read = readApprovalRule(deps, project, listing).catch((error: unknown) => {
    deps.log.debug({ project: project.projectId, err: error }, "the rule of approvals could not be read");
    return project.requiredApprovals;
  });
  return await Promise.race([read, Bun.sleep(LOOK_MS).then(() => project.requiredApprovals)]);
}

/** Null: the file says nothing that can be read. */
function ruleOf({ manifest, errors }: ReturnType<typeof readManifest>): number | "wrong" | null {
  if (errors.some(({ path, severity }) => severity === "error" && RULE.test(path))) return "wrong";
  return manifest === null ? null : manifest.changeRequests.requiredApprovals;
}

const RULE = /^change_requests(?:\.required_approvals)?$/;
