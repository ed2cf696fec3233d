import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import {
  branchPushes,
  changeRequestEvents,
  changeRequestHeads,
  changeRequests,
} from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { Git } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { watchHost } from "../checks/host/watch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { describePush } from "./describe-push.ts";
import type { CrRow } from "./row.ts";

/** Heads of one change request that are recorded; later ones are not kept. */
const HEADS_MAX = 10_000;
/** Heads that are kept at a time; the rest follow when the branch moves again. */
const KEPT_AT_ONCE = 100;

type Head = Pick<CrRow, "crId" | "headCommitSha" | "baseCommitSha">;

/** The dependencies of keeping heads. */
type Keeping = Pick<Deps, "db" | "keys" | "log"> & {
  git: Pick<Git, "ensureCommits" | "keep" | "countAdded">;
};

/**
 * Records the commits that heads have moved to, in the transaction that has locked their rows. The same commit twice in a
 * row is recorded once. The timeline gets them as pushes, by the person who has pushed the commit through svc, if somebody
 * has. Their checks on the git host are read from now on.
 * @param as `seen`: the branch was there at some time, so a commit that it has had before is no push
 */
export async function recordHeads(
  tx: Db,
  heads: readonly Head[],
  at: Date,
  as: "moved" | "seen",
): Promise<void> {
  if (heads.length === 0) return;
  const moved = heads.map((row) => ({
    cr_id: row.crId,
    commit_sha: row.headCommitSha,
    base: row.baseCommitSha,
  }));
  const { crId, number, commitSha } = changeRequestHeads;
  const isNew = sql`not exists (select from ${changeRequestHeads} where ${crId} = head.cr_id and ${commitSha} = head.commit_sha)`;
  await tx.execute(sql`
    with head as (
      select moved.cr_id, coalesce(newest.number, 0) + 1 as number, moved.commit_sha, moved.base,
        newest.commit_sha as before
      from json_to_recordset(${JSON.stringify(moved)}::json) as moved(cr_id uuid, commit_sha text, base text)
      left join lateral (
        select ${number} as number, ${commitSha} as commit_sha from ${changeRequestHeads}
        where ${crId} = moved.cr_id order by ${number} desc limit 1
      ) as newest on true
      where moved.commit_sha is not null and moved.base is not null
        and moved.commit_sha is distinct from newest.commit_sha and coalesce(newest.number, 0) < ${HEADS_MAX}
    ), recorded as (
      insert into ${changeRequestHeads} (cr_id, number, commit_sha, base_commit_sha, seen_at)
      select cr_id, number, commit_sha, base, ${at.toISOString()}::timestamptz from head
    )
    insert into ${changeRequestEvents} (cr_id, event, user_id, actor, data, created_at)
    select head.cr_id, 'pushed', push.user_id, push.actor,
      jsonb_build_object('from', head.before, 'to', head.commit_sha, 'head', head.number), ${at.toISOString()}::timestamptz
    from head
    join ${changeRequests} cr on cr.cr_id = head.cr_id
    left join ${branchPushes} push
      on push.project_id = cr.project_id and push.branch = cr.head_ref and push.commit_sha = head.commit_sha
    where head.before is not null and ${as === "moved" ? sql`true` : isNew}
    order by head.cr_id`);
  await watchHost(tx, heads, at);
}

/**
 * Keeps the recorded heads of change requests in the mirror, so that their diffs outlive branches and force pushes. A head
 * that the repository no longer has is given up; after another failure, the next poll of the project tries again
 * (`follow-heads.ts`).
 */
export async function keepHeads(
  deps: Keeping,
  project: ProjectRow,
  rows: readonly Pick<CrRow, "crId">[],
): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ crId }) => crId);
  try {
    const heads = await deps.db
      .select({
        crId: changeRequestHeads.crId,
        cr: changeRequests.number,
        number: changeRequestHeads.number,
        commit: changeRequestHeads.commitSha,
      })
      .from(changeRequestHeads)
      .innerJoin(changeRequests, eq(changeRequests.crId, changeRequestHeads.crId))
      .where(and(inArray(changeRequestHeads.crId, ids), isNull(changeRequestHeads.kept)))
      .orderBy(changeRequestHeads.crId, changeRequestHeads.number)
      .limit(KEPT_AT_ONCE);
    const repo = repositoryOf(deps, project);
    for (const { crId, cr, number, commit } of heads) {
      const kept = await deps.git.ensureCommits(repo, [commit]);
      if (kept) {
        await deps.git.keep(repo, cr, { [`head/${number}`]: commit });
        await describePush(deps, project, repo, { crId, cr, number });
      }
      await deps.db
        .update(changeRequestHeads)
        .set({ kept })
        .where(and(eq(changeRequestHeads.crId, crId), eq(changeRequestHeads.number, number)));
    }
  } catch (error) {
    deps.log.warn({ err: error, project: project.projectId }, "cannot keep the head of a change request yet");
  }
}
