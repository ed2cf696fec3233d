import { and, asc, eq, gt, inArray, isNull } from "drizzle-orm";
import { changeRequestHeads, changeRequests } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { keepHeads } from "./heads.ts";
import { refresh } from "./refresh.ts";
import { crColumns } from "./row.ts";

/** Change requests per call; the others follow with the next one. */
const BATCH = 200;
/** Change requests that are read at once: a project may have very many. */
const PAGE = 1_000;

/**
 * Updates the open change requests whose head branches have moved, so that pushes are noticed without a reader, and keeps
 * heads that could not be kept before.
 */
export async function followHeads(deps: Deps, project: ProjectRow, { tips }: Branches): Promise<void> {
  const { projectId } = project;
  const open = and(eq(changeRequests.projectId, projectId), eq(changeRequests.status, "open"));
  const moved = await movedHeads(deps, projectId, tips, { page: PAGE, most: BATCH });
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

/**
 * The ids of the first open change requests whose branches have another head, by number.
 * @param page how many are read at once
 */
export async function movedHeads(
  { db }: Pick<Deps, "db">,
  projectId: string,
  tips: Branches["tips"],
  { page, most }: { page: number; most: number },
): Promise<string[]> {
  const moved: string[] = [];
  let last = 0;
  while (true) {
    const rows = await db
      .select({
        crId: changeRequests.crId,
        number: changeRequests.number,
        headRef: changeRequests.headRef,
        head: changeRequests.headCommitSha,
      })
      .from(changeRequests)
      .where(
        and(
          eq(changeRequests.projectId, projectId),
          eq(changeRequests.status, "open"),
          gt(changeRequests.number, last),
        ),
      )
      .orderBy(asc(changeRequests.number))
      .limit(page);
    for (const { crId, headRef, head } of rows)
      if (tips.has(headRef) && tips.get(headRef) !== head) moved.push(crId);
    last = rows.at(-1)?.number ?? last;
    if (rows.length < page || moved.length >= most) return moved.slice(0, most);
  }
}
