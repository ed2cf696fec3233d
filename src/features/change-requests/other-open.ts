import { and, eq, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { pageUrl } from "./page-url.ts";

/**
 * Refuses a second open change request of the same branches (contract: Change requests). The caller's transaction has
 * locked the project.
 * @param wanted the branches, and the change request that is about to be open, if it exists
 * @throws already_open with its `number` and `url`
 */
export async function requireNoOtherOpen(
  deps: Deps,
  tx: Db,
  project: ProjectRow,
  wanted: { headRef: string; baseRef: string; crId?: string },
): Promise<void> {
  const [other] = await tx
    .select({ number: changeRequests.number })
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, project.projectId),
        eq(changeRequests.status, "open"),
        eq(changeRequests.headRef, wanted.headRef),
        eq(changeRequests.baseRef, wanted.baseRef),
        wanted.crId === undefined ? undefined : ne(changeRequests.crId, wanted.crId),
      ),
    )
    .limit(1);
  if (!other) return;
  const { number } = other;
  throw new SvcError(
    "already_open",
    `Change request #${number} of "${wanted.headRef}" into "${wanted.baseRef}" is open. Pushes to the branch are added to it: svc cr show ${number}`,
    { number, url: pageUrl(deps, project, number) },
  );
}
