import { and, asc, eq, isNotNull, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import {
  changeRequestOwners,
  changeRequestPeople,
  changeRequests,
  projects,
} from "../../../../db/schema/index.ts";
import type { Ownership } from "../../../contract/code-owners.ts";
import { REVIEWERS_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { inParallel } from "../../../lib/in-parallel.ts";
import { NOBODY, recordTimeline } from "../../timeline/record.ts";
import { approvalsOf } from "../approved.ts";
import type { Person } from "../people/named.ts";
import { peopleOf } from "../people/of.ts";
import { recordRequests } from "../people/requested.ts";
import { changeOf } from "../row.ts";
import { membersNamed, ownersIn } from "./members.ts";
import { knownOwnership, storedOwnership } from "./ownership.ts";

/** How long a push may go unnoticed. */
const BUSY_MS = 1_000;
/** Change requests per round; the next round takes the rest. */
const BATCH = 100;
/** Repositories read at a time: a slow git host must not delay the others. */
const CONCURRENCY = 2;
/** The wait after a repository could not be read. */
const RETRY_MS = 5 * 60_000;

/**
 * Requests reviews from the owners of the files that open change requests change, on each new head, unless it is a draft. Each
 * owner of a change request is requested once: a request that a person removes stays removed.
 * @returns stops the worker, and waits for the round in progress
 */
export function startOwnerRequestWorker(deps: Deps): () => Promise<void> {
  const stopping = new AbortController();
  /** Those that could not be read, by their ids, and when they are read again. */
  const failed = new Map<string, number>();
  const stop = runPeriodically(
    deps,
    {
      subject: "code-owners",
      wakers: ["change_request"],
      work: [() => requestAll(deps, failed, stopping.signal)],
    },
    { busyMs: BUSY_MS },
  );
  return async () => {
    stopping.abort();
    await stop();
  };
}

const isWaiting = and(
  eq(changeRequests.status, "open"),
  sql`not ${changeRequests.draft}`,
  isNotNull(changeRequests.headCommitSha),
  sql`${changeRequests.ownersSha} is distinct from ${changeRequests.headCommitSha}`,
);

type Row = typeof changeRequests.$inferSelect;

/** @returns whether there were any */
async function requestAll(deps: Deps, failed: Map<string, number>, signal: AbortSignal): Promise<boolean> {
  const now = deps.clock().getTime();
  for (const [crId, until] of failed) if (until <= now) failed.delete(crId);
  const found = await deps.db
    .select({ cr: changeRequests, project: projects })
    .from(changeRequests)
    .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
    .where(
      and(
        isWaiting,
        sql`${changeRequests.crId} not in (select value::uuid from json_array_elements_text(${JSON.stringify([...failed.keys()])}::json))`,
      ),
    )
    .orderBy(asc(changeRequests.updatedAt))
    .limit(BATCH);
  await inParallel(found, CONCURRENCY, signal, async ({ cr, project }) => {
    try {
      await requestOwners(deps, project, cr);
    } catch (error) {
      deps.log.info({ err: error, cr: cr.crId }, "cannot read the code owners yet");
      failed.set(cr.crId, deps.clock().getTime() + RETRY_MS);
    }
  });
  return found.length > 0;
}

async function requestOwners(deps: Deps, project: ProjectRow, cr: Row): Promise<void> {
  const { crId, baseCommitSha: base, headCommitSha: head } = cr;
  if (head === null) return;
  const ownership =
    base === null ? { lines: [], isComplete: true } : await knownOwnership(deps, project, cr, { base, head });
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(changeRequests)
      .set({ ownersSha: head })
      .where(and(eq(changeRequests.crId, crId), isWaiting, eq(changeRequests.headCommitSha, head)))
      .returning();
    if (!row) return;
    const { wanted, earlier } = await wantedOf(tx, row, head, ownership);
    if (wanted.length === 0) return;
    const at = deps.clock();
    const ids = wanted.map(({ userId }) => userId);
    await tx
      .insert(changeRequestPeople)
      .values(ids.map((userId) => ({ crId, part: "reviewer" as const, userId, since: at })));
    await tx
      .update(changeRequestOwners)
      .set({ requested: [...earlier, ...ids] })
      .where(eq(changeRequestOwners.crId, crId));
    await recordTimeline(
      tx,
      { by: NOBODY, at },
      ids.map((userId) => ({ crId, event: "review_requested", user_id: userId })),
    );
    await recordRequests(deps, tx, null, project, { row, at, asked: wanted });
    await publish(tx, project.projectId, changeOf(row));
  });
}

/** Whose review is requested, as far as there is space, and whose was before. @param tx has locked the row */
async function wantedOf(
  tx: Db,
  { crId, accountId, createdBy }: Row,
  head: string,
  { lines }: Ownership,
): Promise<{ wanted: Person[]; earlier: string[] }> {
  const words = lines.flatMap(({ owners }) => owners);
  const find = await membersNamed(tx, accountId, words);
  const owners = ownersIn(words.map(find)).map(({ user_id: userId, name }): Person => ({ userId, name }));
  const earlier = (await storedOwnership(tx, [crId])).get(crId)?.requested ?? [];
  const reviewers = (await peopleOf(tx, [crId])).filter(({ part }) => part === "reviewer");
  const reviewed = (await approvalsOf(tx, [crId])).filter(({ headCommitSha }) => headCommitSha === head);
  const known = new Set([createdBy, ...earlier, ...[...reviewers, ...reviewed].map(({ userId }) => userId)]);
  const wanted = owners.filter(({ userId }) => !known.has(userId));
  return { wanted: wanted.slice(0, Math.max(0, REVIEWERS_MAX - reviewers.length)), earlier };
}
