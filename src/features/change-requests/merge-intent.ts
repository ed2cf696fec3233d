import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests, mergeIntents } from "../../../db/schema/index.ts";
import type { Ownership } from "../../contract/code-owners.ts";
import { SvcError } from "../../contract/errors.ts";
import type { MergeMethod } from "../../contract/merge-method.ts";
import type { Deps } from "../../deps.ts";
import type { Branches, Relation, Repository } from "../../git/git.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { requireChecks } from "../checks/summary.ts";
import { fetchCommits } from "../projects/fetch.ts";
import type { Protection } from "../projects/protection.ts";
import { requireUnchanged } from "./agent-merge.ts";
import { requireApprovals } from "./approved.ts";
import { readOwnership } from "./code-owners/ownership.ts";
import { requireOwnerReviews } from "./code-owners/reviews.ts";
import { messageOf, personOf, writeCommits } from "./merge-commits.ts";
import type { CrRow } from "./row.ts";
import type { Intent } from "./settle.ts";
import { tipOf } from "./tips.ts";

/** Longer than any push of svc, which may wait 30 s for its lock and take 120 s. */
const INTENT_LIFE_MS = 200_000;

export interface Prepared {
  project: ProjectRow;
  repo: Repository;
  listing: Branches;
  method: MergeMethod;
  /** The caller's message; svc adds trailers to it. */
  message: string | undefined;
  /** The head commit that the caller reviewed. */
  seen: string | undefined;
  /** Paths that the merge must not change. */
  unchanged: readonly string[];
  /** The project's rules, read from the same listing. */
  rule: Protection;
  /** Throws if the merge must not be recorded, under the lock of the row. */
  allow: (tx: Db, rule: Protection) => Promise<void>;
}

/**
 * Computes the merge and records the intent to push it.
 * @returns "moved" when a tip or the base has changed meanwhile.
 */
export async function prepareMerge(
  deps: Deps,
  caller: Caller,
  row: CrRow,
  { project, repo, listing, method, message: given, seen, unchanged, rule, allow }: Prepared,
): Promise<Intent | "moved"> {
  const base = tipOf(listing, row.baseRef);
  const head = requireHead(row, listing, seen);
  if (!(await fetchCommits(deps, repo, [base, head]))) return "moved";
  const relation = await relate(deps, repo, row, { base, head });
  const merge = { method, base, head, given };
  const person = await personOf(deps, caller);
  const message = await messageOf(deps, repo, project, row, person, merge);
  // if the response to a push was lost, the same commit is pushed again, so that it cannot be merged twice
  const [earlier] = await deps.db
    .select()
    .from(mergeIntents)
    .where(
      and(
        eq(mergeIntents.crId, row.crId),
        eq(mergeIntents.baseSha, base),
        eq(mergeIntents.headSha, head),
        eq(mergeIntents.method, method),
        eq(mergeIntents.message, message),
      ),
    );
  const date = earlier?.intendedAt ?? wholeSecond(deps.clock());
  const written = await writeCommits(deps, repo, row, relation, { ...merge, message, date, person });
  const { mergeSha, fastForward } = written;
  await requireUnchanged(deps, repo, { from: base, to: mergeSha }, unchanged);
  await deps.checkpoint("commit-written");
  const intent: Intent = {
    crId: row.crId,
    mergeSha,
    baseSha: base,
    headSha: head,
    method,
    fastForward,
    message,
    mergedBy: caller.userId,
    mergedActor: actorOf(caller),
    intendedAt: date,
    expiresAt: intentEnd(deps),
  };
  const ownership = await ownershipFor(deps, { repo, rule }, { base, head, result: mergeSha });
  if (!(await recordIntent(deps, row, intent, { rule, allow, ownership, checked: head }))) return "moved";
  await deps.checkpoint("intent-recorded");
  return intent;
}

/** Until when a process that records an intent now may be pushing. */
export function intentEnd({ clock }: Pick<Deps, "clock">): Date {
  return new Date(clock().getTime() + INTENT_LIFE_MS);
}

/** How two commits of the mirror relate. @throws unrelated_histories, nothing_to_merge */
export async function relate(
  deps: Deps,
  repo: Repository,
  row: Pick<CrRow, "number" | "baseRef" | "headRef">,
  { base, head }: { base: string; head: string },
): Promise<Relation> {
  const relation = await deps.git.relate(repo, base, head);
  if (relation.mergeBase === null) {
    throw new SvcError(
      "unrelated_histories",
      `"${row.baseRef}" and "${row.headRef}" have no commit in common, so they cannot be merged. Create the branch anew from "${row.baseRef}".`,
    );
  }
  if (relation.isUpToDate) {
    throw new SvcError(
      "nothing_to_merge",
      `"${row.baseRef}" already has every commit of "${row.headRef}". Push new commits to it, or close the change request: svc cr close ${row.number}`,
    );
  }
  return relation;
}

/** The current head. @param seen the commit that the caller reviewed @throws branch_missing, head_moved */
export function requireHead(
  row: Pick<CrRow, "headRef">,
  listing: Branches,
  seen: string | undefined,
): string {
  const head = tipOf(listing, row.headRef);
  if (seen !== undefined && seen.toLowerCase() !== head) throw headMoved(row, seen.toLowerCase(), head);
  return head;
}

/** The error when the head is not the commit that the caller reviewed. */
export function headMoved(row: Pick<CrRow, "headRef">, expected: string, now: string): SvcError {
  const sentence = `"${row.headRef}" has moved since you reviewed it. Review the new commits and try again.`;
  return new SvcError("head_moved", sentence, { head_commit_sha: now, expected });
}

/** What a merge must fulfil under the lock of the row. */
interface Wanted extends Pick<Prepared, "rule" | "allow"> {
  /** Who owns what it changes; null: the project requires no review from code owners. */
  ownership: Ownership | null;
}

/**
 * Reads who owns what a merge changes, if the project requires a review from code owners.
 * @throws what `readOwnership` throws
 */
export async function ownershipFor(
  deps: Deps,
  { repo, rule }: Pick<Prepared, "repo" | "rule">,
  commits: { base: string; head: string; result: string },
): Promise<Ownership | null> {
  return rule.requireCodeOwnerReview ? await readOwnership(deps, repo, commits) : null;
}

/**
 * Records the intent under the lock of the row.
 * @param checked the commit whose required checks must have passed
 * @returns whether the base is still the one that the merge was computed for
 */
export async function recordIntent(
  deps: Deps,
  row: CrRow,
  intent: Intent,
  { checked, ...wanted }: Wanted & { checked: string },
): Promise<boolean> {
  return await deps.db.transaction(async (tx) => {
    if (!(await lockForMerge(tx, row, intent.headSha, wanted))) return false;
    await requireChecks(tx, row, checked, wanted.rule);
    await tx
      .insert(mergeIntents)
      .values(intent)
      .onConflictDoUpdate({
        target: [mergeIntents.crId, mergeIntents.mergeSha],
        set: { expiresAt: intent.expiresAt },
      });
    return true;
  });
}

/**
 * Locks the row, so that a close either comes before and is found here, or comes after and finds what is recorded. The same
 * holds for the withdrawal of an approval, for another base, and for making it a draft.
 * @returns the row; null when its base is another one now
 * @throws not_open, draft, changes_requested, approval_required, code_owner_review_required, and what `allow` throws
 */
export async function lockForMerge(
  tx: Db,
  row: CrRow,
  head: string,
  { rule, allow, ownership }: Wanted,
): Promise<typeof changeRequests.$inferSelect | null> {
  const locked = await lockOpen(tx, row);
  if (locked.baseRef !== row.baseRef) return null;
  if (locked.draft) throw isDraft(row);
  await allow(tx, rule);
  await requireApprovals(tx, row, head, rule);
  await requireOwnerReviews(tx, row, head, rule, ownership);
  return locked;
}

/** Locks the row of an open change request. @throws not_open */
export async function lockOpen(tx: Db, row: CrRow): Promise<typeof changeRequests.$inferSelect> {
  const [locked] = await tx
    .select()
    .from(changeRequests)
    .where(eq(changeRequests.crId, row.crId))
    .for("update");
  if (locked?.status !== "open") throw notOpen(row, locked?.status ?? "deleted");
  return locked;
}

/** The error for a merge of a draft. */
export function isDraft({ number }: Pick<CrRow, "number">): SvcError {
  const sentence = `Change request #${number} is a draft, so it cannot be merged yet. When the work is done, run: svc cr ready ${number}`;
  return new SvcError("draft", sentence);
}

/** Removes the intent of a push that is known not to have happened. */
export async function forgetIntent(db: Db, intent: Pick<Intent, "crId" | "mergeSha">): Promise<void> {
  await db
    .delete(mergeIntents)
    .where(and(eq(mergeIntents.crId, intent.crId), eq(mergeIntents.mergeSha, intent.mergeSha)));
}

/** Removes the intents of a recorded merge; false when another request did so first. */
export async function removeIntents(db: Db, crId: string): Promise<boolean> {
  const taken = await db
    .delete(mergeIntents)
    .where(eq(mergeIntents.crId, crId))
    .returning({ mergeSha: mergeIntents.mergeSha });
  return taken.length > 0;
}

/** The error for a merge of a change request that is not open. */
export function notOpen(row: CrRow, status: string): SvcError {
  return new SvcError(
    "not_open",
    `Change request #${row.number} is ${status} and cannot be merged.${status === "closed" ? ` Reopen it first: svc cr reopen ${row.number}` : ""}`,
  );
}

/** Commit dates are in whole seconds. */
export function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
