import { and, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import { changeRequests } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { NOBODY } from "../timeline/record.ts";
import { OFF } from "./auto-merge/row.ts";
import { keepHeads, recordHeads } from "./heads.ts";
import { settleReached } from "./reached.ts";
import { type CrRow, changeOf, crColumns } from "./row.ts";
import { settle } from "./settle.ts";
import { stopMerging } from "./stop-merging.ts";
import { recordCrEvent } from "./webhook.ts";

/** How long a read waits for the repository before it returns the stored row (contract). */
const READ_LISTING_MS = 3_000;

/**
 * Updates the commits of open change requests from their branches with one ref listing, and settles merges that were
 * interrupted or made without svc. Rows keep their order. If the repository does not respond, or a branch is missing,
 * the stored row is returned (spec 4.1 rule 3), marked as stale.
 * @returns the rows, and the listing if it was needed and succeeded
 */
export async function refresh(
  deps: Deps,
  project: ProjectRow,
  rows: CrRow[],
): Promise<{ rows: CrRow[]; listing: Branches | null }> {
  const open = rows.filter((row) => row.status === "open");
  if (open.length === 0) return { rows, listing: null };
  const listing = await tryListing(deps, project);
  if (!listing) {
    return { rows: rows.map((row) => (row.status === "open" ? { ...row, stale: true } : row)), listing };
  }
  const written = new Map<string, CrRow>();
  for (const row of open.filter((candidate) => candidate.hasIntents)) {
    const settled = await settle(deps, project, row, listing).catch((error: unknown) => {
      deps.log.warn({ err: error, cr: row.crId }, "cannot settle an interrupted merge yet");
      return null;
    });
    if (settled) written.set(row.crId, { ...settled, hasIntents: false });
  }
  const unsettled = open.filter((row) => !written.has(row.crId));
  const { merged, unsure } = await settleReached(deps, project, unsettled, listing);
  for (const row of merged) written.set(row.crId, { ...row, hasIntents: false });
  const moved = unsettled
    .filter((row) => !written.has(row.crId))
    .flatMap((row) => tipsOf(row, listing, unsure.has(row.crId)));
  for (const row of await write(deps, project, moved)) written.set(row.crId, { ...row, hasIntents: false });
  const others = moved.map(({ cr_id }) => cr_id).filter((id) => !written.has(id));
  for (const row of await readAgain(deps, others)) written.set(row.crId, row);
  return {
    rows: rows.map((row) => shown(written.get(row.crId) ?? row, listing, unsure.has(row.crId))),
    listing,
  };
}

/** @param keepsBase the stored base is outdated on purpose, see `tipsOf` */
function shown(row: CrRow, { tips }: Branches, keepsBase: boolean): CrRow {
  if (row.status !== "open") return row;
  const base = tips.get(row.baseRef);
  if (base === undefined || !tips.has(row.headRef)) return { ...row, stale: true };
  return keepsBase ? { ...row, baseCommitSha: base } : row;
}

async function tryListing(deps: Deps, project: ProjectRow): Promise<Branches | null> {
  try {
    return await deps.git.listBranches(repositoryOf(deps, project), READ_LISTING_MS);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    deps.log.debug(
      { project: project.projectId, code: error.code },
      "the repository did not respond to a read",
    );
    return null;
  }
}

interface Moved {
  cr_id: string;
  head: string;
  base: string;
  /** Whether the head moved: a move of the base alone is no change of the change request. */
  isHead: boolean;
}

/** @param keepsBase keeps the stored base, because the next read has to check whether the new one contains the commits */
function tipsOf(row: CrRow, listing: Branches, keepsBase: boolean): Moved[] {
  const head = listing.tips.get(row.headRef);
  const tip = listing.tips.get(row.baseRef);
  const base = keepsBase ? row.baseCommitSha : tip;
  if (head === undefined || tip === undefined || base === undefined || base === null) return [];
  const isHead = head !== row.headCommitSha;
  return isHead || base !== row.baseCommitSha ? [{ cr_id: row.crId, head, base, isHead }] : [];
}

/**
 * Updates all rows in one statement, except those that were merged or closed meanwhile and those that another reader has
 * already updated, so that each move of a branch is announced once.
 */
async function write(deps: Deps, project: ProjectRow, moved: Moved[]) {
  if (moved.length === 0) return [];
  const now = deps.clock();
  const tips = sql`json_to_recordset(${JSON.stringify(moved)}::json) as tips(cr_id uuid, head text, base text)`;
  const heads = new Set(moved.filter((row) => row.isHead).map((row) => row.cr_id));
  const written = await deps.db.transaction(async (tx) => {
    const rows = await tx
      .update(changeRequests)
      .set({ headCommitSha: sql`tips.head`, baseCommitSha: sql`tips.base`, updatedAt: now })
      .from(tips)
      .where(
        and(
          eq(changeRequests.crId, sql`tips.cr_id`),
          eq(changeRequests.status, "open"),
          sql`(${changeRequests.headCommitSha}, ${changeRequests.baseCommitSha}) is distinct from (tips.head, tips.base)`,
        ),
      )
      .returning(getTableColumns(changeRequests));
    const pushed = rows.filter(({ crId }) => heads.has(crId));
    await recordHeads(tx, pushed, now, "moved");
    await stopMerging(
      tx,
      { by: NOBODY, at: now },
      pushed.map(({ crId }) => crId),
      OFF.pushed,
    );
    for (const row of pushed) await recordCrEvent(deps, tx, project, { type: "cr.updated", at: now }, row);
    await publish(tx, project.projectId, ...rows.map((row) => changeOf(row)));
    return rows;
  });
  // does not delay the read
  void keepHeads(
    deps,
    project,
    written.filter(({ crId }) => heads.has(crId)),
  );
  return written;
}

async function readAgain(deps: Deps, crIds: string[]): Promise<CrRow[]> {
  if (crIds.length === 0) return [];
  return await deps.db.select(crColumns).from(changeRequests).where(inArray(changeRequests.crId, crIds));
}
