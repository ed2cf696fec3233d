import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { changeRequests, mergeIntents } from "../../db/schema/index.ts";
import type { Caller } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Branches, Repository } from "../git/git.ts";
import { fetchCommits } from "../projects/fetch.ts";
import { requireApprovals } from "./approved.ts";
import type { CrRow } from "./row.ts";
import type { Intent } from "./settle.ts";
import { tipOf } from "./tips.ts";

/** Longer than the longest push, which may wait 30 s for its turn and take 120 s: past it none of ours is under way. */
const INTENT_LIFE_MS = 200_000;

interface Prepared {
  listing: Branches;
  message: string | undefined;
  /** Approvals that the project asks for, by the same listing. */
  required: number;
}

/**
 * Computes the merge and records it as about to be pushed.
 * @returns "moved" when a tip changed under way.
 */
export async function prepareMerge(
  deps: Deps,
  caller: Caller,
  repo: Repository,
  row: CrRow,
  { listing, message: given, required }: Prepared,
): Promise<Intent | "moved"> {
  const base = tipOf(listing, row.baseRef);
  const head = tipOf(listing, row.headRef);
  if (!(await fetchCommits(deps, repo, [base, head]))) return "moved";
  const relation = await deps.git.relate(repo, base, head);
  if (relation.mergeBase === null) {
    throw new SvcError(
      "unrelated_histories",
      "The two branches have no commit in common, so they cannot be merged.",
    );
  }
  if (relation.isUpToDate) {
    throw new SvcError("nothing_to_merge", `"${row.baseRef}" already has every commit of "${row.headRef}".`);
  }
  const message = given ?? `Merge CR #${row.number}: ${row.title}`;
  // A merge whose answer was lost is pushed again as the same commit, so that it cannot land twice.
  const [earlier] = await deps.db
    .select()
    .from(mergeIntents)
    .where(
      and(
        eq(mergeIntents.crId, row.crId),
        eq(mergeIntents.baseSha, base),
        eq(mergeIntents.headSha, head),
        eq(mergeIntents.message, message),
      ),
    );
  const date = earlier?.intendedAt ?? wholeSecond(deps.clock());
  const mergeSha = relation.canFastForward
    ? head
    : await writeMerge(deps, repo, { base, head, message, date });
  await deps.checkpoint("commit-written");
  const intent: Intent = {
    crId: row.crId,
    mergeSha,
    baseSha: base,
    headSha: head,
    fastForward: relation.canFastForward,
    message,
    mergedBy: caller.userId,
    intendedAt: date,
    expiresAt: new Date(deps.clock().getTime() + INTENT_LIFE_MS),
  };
  await record(deps, row, intent, required);
  await deps.checkpoint("intent-recorded");
  return intent;
}

async function writeMerge(
  deps: Deps,
  repo: Repository,
  merge: { base: string; head: string; message: string; date: Date },
): Promise<string> {
  const identity = { name: "svc", email: `no-reply@${deps.config.noReplyHost}` };
  const result = await deps.git.writeMerge(repo, { ...merge, identity });
  if ("commit" in result) return result.commit;
  throw new SvcError("merge_conflict", "Merge failed", { conflicts: result.conflicts });
}

/**
 * Under the row's lock, so that a close either came before and is seen, or comes after and sees the intent; the same holds
 * for an approval that is taken back.
 */
async function record(deps: Deps, row: CrRow, intent: Intent, required: number): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const [locked] = await tx
      .select({ status: changeRequests.status })
      .from(changeRequests)
      .where(eq(changeRequests.crId, row.crId))
      .for("update");
    if (locked?.status !== "open") throw notOpen(row, locked?.status ?? "deleted");
    await requireApprovals(tx, row, intent.headSha, required);
    await tx
      .insert(mergeIntents)
      .values(intent)
      .onConflictDoUpdate({
        target: [mergeIntents.crId, mergeIntents.mergeSha],
        set: { expiresAt: intent.expiresAt },
      });
  });
}

/** For a push that is known not to have happened. */
export async function forgetIntent(db: Db, intent: Pick<Intent, "crId" | "mergeSha">): Promise<void> {
  await db
    .delete(mergeIntents)
    .where(and(eq(mergeIntents.crId, intent.crId), eq(mergeIntents.mergeSha, intent.mergeSha)));
}

/** Takes away what is written down of a merge that is recorded; false when another request was first. */
export async function takeIntents(db: Db, crId: string): Promise<boolean> {
  const taken = await db
    .delete(mergeIntents)
    .where(eq(mergeIntents.crId, crId))
    .returning({ mergeSha: mergeIntents.mergeSha });
  return taken.length > 0;
}

/** The answer to a merge of what is not open. */
export function notOpen(row: CrRow, status: string): SvcError {
  return new SvcError("not_open", `Change request #${row.number} is ${status}, so it cannot be merged.`);
}

/** A commit's date has no fraction. */
function wholeSecond(date: Date): Date {
  return new Date(Math.floor(date.getTime() / 1000) * 1000);
}
