import { and, eq, inArray, isNull } from "drizzle-orm";
import { changeRequestHeads, changeRequests } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { keepHeads } from "./heads.ts";
import { refresh } from "./refresh.ts";
import { crColumns } from "./row.ts";

/** Change requests per call; the others follow with the next one. */
const BATCH = 200;

/**
 * Updates the open change requests whose head branches have moved, so that pushes are noticed without a reader, and keeps
 * heads that could not be kept before.
 */
export async function followHeads(deps: Deps, project: ProjectRow, { tips }: Branches): Promise<void> {
  const { projectId } = project;
  const open = and(eq(changeRequests.projectId, projectId), eq(changeRequests.status, "open"));
  const heads = await deps.db
    .select({
      crId: changeRequests.crId,
      headRef: changeRequests.headRef,
      head: changeRequests.headCommitSha,
    })
    .from(changeRequests)
    .where(open);
  const moved = heads
    .filter(({ headRef, head }) => tips.has(headRef) && tips.get(headRef) !== head)
    .slice(0, BATCH)
    .map(({ crId }) => crId);
  if (moved.length > 0) {
    const rows = await deps.db
      .select(crColumns)
      .from(changeRequests)
      .where(and(open, inArray(changeRequests.crId, moved)));
    await refresh(deps, project, rows);
  }
  const left = await deps.db
    .selectDistinct({ crId: changeRequestHeads.crId })
    .from(changeRequestHeads)
    .innerJoin(changeRequests, eq(changeRequests.crId, changeRequestHeads.crId))
    .where(and(eq(changeRequests.projectId, projectId), isNull(changeRequestHeads.kept)))
    .limit(BATCH);
  await keepHeads(deps, project, left);
}
