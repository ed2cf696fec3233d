import { and, asc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequestStack, Stacked } from "../../contract/change-request-stack.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { findChangeRequest } from "./row.ts";
import { protectedIn } from "./stack.ts";

/** Change requests of a stack that are listed below, and above, the one that was asked for. */
const LISTED_MAX = 100;

type Row = Omit<Stacked, "level">;

/**
 * The open change requests that a change request is based on, and those that are based on it, directly or not. A protected
 * branch is the end of a stack: those based on it do not depend on the change request of it (`retargetStack`).
 * @throws not_found, validation_failed
 */
export async function listStack(deps: Deps, project: ProjectRow, name: string): Promise<ChangeRequestStack> {
  const { number, title, draft, headRef, baseRef, status } = await findChangeRequest(deps.db, project, name);
  if (status !== "open") return { stack: [] };
  const own = { number, title, draft, head_ref: headRef, base_ref: baseRef, level: 0 };
  const isProtected = await protectedIn(deps.db, project);
  const seen = new Set([number]);
  const below = await follow(seen, [own], -1, async (rows) =>
    (await openOf(deps.db, project, "headRef", unprotected(rows, "base_ref"))).slice(0, 1),
  );
  const above = await follow(seen, [own], 1, (rows) =>
    openOf(deps.db, project, "baseRef", unprotected(rows, "head_ref")),
  );
  return { stack: below.length + above.length === 0 ? [] : [...below.toReversed(), own, ...above] };

  function unprotected(rows: readonly Row[], of: "head_ref" | "base_ref"): string[] {
    return rows.map((row) => row[of]).filter((branch) => !isProtected(branch));
  }
}

/** Those that `next` finds of the last ones, level by level, each change request once. */
async function follow(
  seen: Set<number>,
  first: readonly Row[],
  step: 1 | -1,
  next: (rows: readonly Row[]) => Promise<Row[]>,
): Promise<Stacked[]> {
  const found: Stacked[] = [];
  let rows = first;
  for (let level = step; rows.length > 0 && found.length < LISTED_MAX; level += step) {
    rows = (await next(rows)).filter(({ number }) => !seen.has(number));
    for (const row of rows) seen.add(row.number);
    found.push(...rows.map((row) => ({ ...row, level })));
  }
  return found.slice(0, LISTED_MAX);
}

async function openOf(
  db: Db,
  { projectId }: ProjectRow,
  of: "headRef" | "baseRef",
  branches: readonly string[],
): Promise<Row[]> {
  if (branches.length === 0) return [];
  const { number, title, draft, headRef, baseRef } = changeRequests;
  return await db
    .select({ number, title, draft, head_ref: headRef, base_ref: baseRef })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, projectId),
        eq(changeRequests.status, "open"),
        inArray(changeRequests[of], [...branches]),
      ),
    )
    .orderBy(asc(number))
    .limit(LISTED_MAX);
}
