import { and, desc, eq, isNotNull, lt, type SQL } from "drizzle-orm";
import {
  changeRequestApprovals,
  changeRequestComments,
  changeRequestHeads,
} from "../../../db/schema/index.ts";
import type { ChangeRequestHead } from "../../contract/change-request-head.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../http/page.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { svcIdentity } from "./merge-commits.ts";
import { requireCommits } from "./preview.ts";
import { refresh } from "./refresh.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

type HeadRow = typeof changeRequestHeads.$inferSelect;

/** The commits that the head of a change request has had, the newest first. @throws not_found, validation_failed */
export async function listHeads(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { limit, cursor }: Page,
): Promise<{ heads: ChangeRequestHead[]; next_cursor?: string }> {
  const cr = await findChangeRequest(deps.db, project, name);
  await refresh(deps, project, [cr]);
  const before = readCursor(cursor, NUMBER_CURSOR);
  const older = before === null ? undefined : lt(changeRequestHeads.number, Number(before));
  const found = await selectHeads(deps, cr, older, limit + 1);
  const { rows, next } = page(found, limit, ({ number }) => String(number));
  const reviewed = await reviewedCommit(deps, caller, cr);
  return { heads: rows.map((row) => toWire(row, reviewed)), ...next };
}

function toWire(row: HeadRow, reviewed: string | null): ChangeRequestHead {
  return {
    number: row.number,
    commit_sha: row.commitSha,
    base_commit_sha: row.baseCommitSha,
    seen_at: row.seenAt.toISOString(),
    reviewed: row.commitSha === reviewed,
  };
}

/**
 * The head that a diff begins at.
 * @param wanted `review`: what the caller has approved or commented on last; or a commit, or the number of a head
 * @throws not_found, validation_failed
 */
export async function findHead(deps: Deps, caller: Caller, cr: CrRow, wanted: string): Promise<HeadRow> {
  const commit = wanted === "review" ? await reviewedCommit(deps, caller, cr) : wanted.toLowerCase();
  if (commit === null)
    throw new SvcError(
      "not_found",
      `You have not reviewed change request #${cr.number}: approve it, or comment on one of its files. To see all of it: svc cr diff ${cr.number}`,
    );
  const [head] = await selectHeads(deps, cr, conditionOf(commit), 1);
  if (head) return head;
  throw new SvcError(
    "not_found",
    `Change request #${cr.number} has not had the head ${commit}. Its heads are listed by: svc cr heads ${cr.number}`,
  );
}

const NUMBER = /^[1-9]\d{0,8}$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function conditionOf(wanted: string): SQL {
  if (NUMBER.test(wanted)) return eq(changeRequestHeads.number, Number(wanted));
  if (COMMIT.test(wanted)) return eq(changeRequestHeads.commitSha, wanted);
  const message = "must be review, the number of a head, or a full commit id";
  throw new SvcError("validation_failed", `since ${message}.`, { details: [{ path: "since", message }] });
}

/** Heads of a change request, the newest first. */
function selectHeads(deps: Deps, { crId }: CrRow, condition: SQL | undefined, limit: number) {
  return deps.db
    .select()
    .from(changeRequestHeads)
    .where(and(eq(changeRequestHeads.crId, crId), condition))
    .orderBy(desc(changeRequestHeads.number))
    .limit(limit);
}

/** The head of the caller's last approval, or comment on a file. */
async function reviewedCommit(deps: Deps, caller: Caller, { crId }: CrRow): Promise<string | null> {
  if (caller.kind !== "user") return null;
  const approval = deps.db
    .select({ commit: changeRequestApprovals.headCommitSha, at: changeRequestApprovals.createdAt })
    .from(changeRequestApprovals)
    .where(and(eq(changeRequestApprovals.crId, crId), eq(changeRequestApprovals.userId, caller.userId)));
  const comment = deps.db
    .select({ commit: changeRequestComments.headCommitSha, at: changeRequestComments.createdAt })
    .from(changeRequestComments)
    .where(
      and(
        eq(changeRequestComments.crId, crId),
        eq(changeRequestComments.createdBy, caller.userId),
        eq(changeRequestComments.byAgent, false),
        isNotNull(changeRequestComments.headCommitSha),
      ),
    )
    .orderBy(desc(changeRequestComments.number))
    .limit(1);
  const reviews = [...(await approval), ...(await comment)].sort((a, b) => b.at.getTime() - a.at.getTime());
  return reviews[0]?.commit ?? null;
}

/**
 * The commit from which the diff to the head shows what is new: an earlier head, on the base that the head is on now. So
 * what came from the base meanwhile, by a rebase or a merge, is left out, unless it conflicts with the earlier head.
 * @param mergeBase of the head now
 * @throws branch_missing, repo_unreachable, merge_engine_failed
 */
export async function carryOver(
  deps: Deps,
  project: ProjectRow,
  head: HeadRow,
  mergeBase: string | null,
): Promise<string> {
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [head.commitSha, head.baseCommitSha]);
  const before = await deps.git.relate(repo, head.baseCommitSha, head.commitSha);
  if (mergeBase === null || before.mergeBase === null || before.mergeBase === mergeBase)
    return head.commitSha;
  const onto = await deps.git.relate(repo, mergeBase, head.commitSha);
  if (onto.mergeBase === null) return head.commitSha;
  const written = await deps.git.writeSquash(repo, {
    base: mergeBase,
    head: head.commitSha,
    message: "An earlier head on the base of a later one",
    identity: svcIdentity(deps),
    date: head.seenAt,
  });
  return "commit" in written ? written.commit : head.commitSha;
}
