import { and, eq, inArray, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { pageUrl } from "./page-url.ts";
import type { CrRow } from "./row.ts";

/** The newest change requests that revert merged ones and are not closed, by the number of the merged one. */
export async function revertsOf(
  db: Db,
  { projectId }: Pick<ProjectRow, "projectId">,
  rows: readonly Pick<CrRow, "number" | "status">[],
): Promise<Map<number, number>> {
  const merged = rows.filter(({ status }) => status === "merged").map(({ number }) => number);
  if (merged.length === 0) return new Map();
  const found = await db
    .select({ original: changeRequests.reverts, number: changeRequests.number })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, projectId),
        inArray(changeRequests.reverts, merged),
        ne(changeRequests.status, "closed"),
      ),
    )
    .orderBy(changeRequests.number);
  return new Map(found.flatMap(({ original, number }) => (original === null ? [] : [[original, number]])));
}

/**
 * Refuses a second open revert of a change request.
 * @throws already_open with its `number` and `url`
 */
export async function requireNoOpenRevert(
  deps: Deps,
  db: Db,
  project: ProjectRow,
  { number: original }: Pick<CrRow, "number">,
): Promise<void> {
  const [found] = await db
    .select({ number: changeRequests.number })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, project.projectId),
        eq(changeRequests.reverts, original),
        eq(changeRequests.status, "open"),
      ),
    )
    .limit(1);
  if (!found) return;
  const { number } = found;
  throw new SvcError(
    "already_open",
    `Change request #${number} reverts #${original} and is open. Review and merge it: svc cr show ${number}`,
    { number, url: pageUrl(deps, project, number) },
  );
}
