import { and, eq, ne, type SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Db } from "../../../db/client.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { pageUrl } from "./page-url.ts";

/** A change request, beside the one that is about to be open. */
export const other = alias(changeRequests, "other");

/** Whether `other` is an open change request of these branches. */
export function isOpen(
  { projectId }: Pick<ProjectRow, "projectId">,
  { headRef, baseRef }: { headRef: string | typeof changeRequests.headRef; baseRef: string },
): SQL | undefined {
  return and(
    eq(other.projectId, projectId),
    eq(other.status, "open"),
    eq(other.headRef, headRef),
    eq(other.baseRef, baseRef),
  );
}

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
  const [found] = await tx
    .select({ number: other.number })
    .from(other)
    .where(and(isOpen(project, wanted), wanted.crId === undefined ? undefined : ne(other.crId, wanted.crId)))
    .limit(1);
  if (!found) return;
  const { number } = found;
  throw new SvcError(
    "already_open",
    `Change request #${number} of "${wanted.headRef}" into "${wanted.baseRef}" is open. Pushes to the branch are added to it: svc cr show ${number}`,
    { number, url: pageUrl(deps, project, number) },
  );
}
