import { and, eq, inArray, notInArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequestPeople, type changeRequests } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { ASSIGNEES_MAX, REVIEWERS_MAX } from "../../../contract/limits.ts";
import type { Caller } from "../../../identity/auth/caller.ts";
import { type Act, byOf, recordTimeline } from "../../timeline/record.ts";
import { type Person, peopleNamed } from "./named.ts";
import { type Part, peopleOf } from "./of.ts";

type Row = Pick<typeof changeRequests.$inferSelect, "crId" | "accountId" | "number" | "status" | "createdBy">;

/** People, by what names them. */
interface Change {
  assignees?: readonly string[];
  add_assignees?: readonly string[];
  remove_assignees?: readonly string[];
  requested_reviewers?: readonly string[];
  add_requested_reviewers?: readonly string[];
  remove_requested_reviewers?: readonly string[];
}

const LIMITS: Readonly<Record<Part, { max: number; words: string }>> = {
  assignee: { max: ASSIGNEES_MAX, words: "assignees" },
  reviewer: { max: REVIEWERS_MAX, words: "requested reviewers" },
};

/**
 * Changes whom a change request is assigned to and who is asked to review it, in a transaction that has locked its row, and
 * before its events are recorded.
 * @returns who is asked to review it now and was not before
 * @throws validation_failed for a person who is not a member, or who opened it, or too many; not_open for a review
 */
export async function changePeople(
  tx: Db,
  caller: Caller,
  row: Row,
  at: Date,
  change: Change,
): Promise<Person[]> {
  const act = { by: byOf(caller), at };
  const named = (words: readonly string[] | undefined) =>
    peopleNamed(tx, { accountId: row.accountId, caller }, words ?? []);
  await changePart(tx, act, row, "assignee", {
    all: change.assignees === undefined ? null : await named(change.assignees),
    added: await named(change.add_assignees),
    removed: await named(change.remove_assignees),
  });
  const reviewers = {
    all: change.requested_reviewers === undefined ? null : await named(change.requested_reviewers),
    added: await named(change.add_requested_reviewers),
    removed: await named(change.remove_requested_reviewers),
  };
  requireReviewers(row, [...(reviewers.all ?? []), ...reviewers.added]);
  return await changePart(tx, act, row, "reviewer", reviewers);
}

/** A review answers the request for it. @param tx has locked the row of the change request */
export async function answerRequest(
  tx: Db,
  { crId }: Pick<Row, "crId">,
  { userId }: Pick<Caller, "userId">,
): Promise<void> {
  const { crId: of, part, userId: by } = changeRequestPeople;
  await tx.delete(changeRequestPeople).where(and(eq(of, crId), eq(part, "reviewer"), eq(by, userId)));
}

const EVENTS = {
  assignee: { added: "assigned", removed: "unassigned" },
  reviewer: { added: "review_requested", removed: "review_request_removed" },
} as const;

interface Wanted {
  /** All that it is to have; null: those that it has. */
  all: readonly Person[] | null;
  added: readonly Person[];
  removed: readonly Person[];
}

/** @returns those who were added */
async function changePart(
  tx: Db,
  act: Act,
  { crId, number }: Row,
  part: Part,
  { all, added, removed }: Wanted,
): Promise<Person[]> {
  const wanted = [...(all ?? []), ...added].filter(
    ({ userId }) => !removed.some((gone) => gone.userId === userId),
  );
  if (all === null && wanted.length === 0 && removed.length === 0) return [];
  const { crId: of, part: as, userId } = changeRequestPeople;
  const own = and(eq(of, crId), eq(as, part));
  const others = all === null ? inArray(userId, idsOf(removed)) : notInArray(userId, idsOf(wanted));
  const left = await tx.delete(changeRequestPeople).where(and(own, others)).returning({ userId });
  await recordTimeline(
    tx,
    act,
    left.map((gone) => ({ crId, event: EVENTS[part].removed, user_id: gone.userId })),
  );
  if (wanted.length === 0) return [];
  const rows = await tx
    .insert(changeRequestPeople)
    .values(wanted.map((person) => ({ crId, part, userId: person.userId, since: act.at })))
    .onConflictDoNothing()
    .returning({ userId });
  await recordTimeline(
    tx,
    act,
    rows.map((row) => ({ crId, event: EVENTS[part].added, user_id: row.userId })),
  );
  const { max, words } = LIMITS[part];
  const now = (await peopleOf(tx, [crId])).filter((each) => each.part === part);
  if (now.length > max)
    throw new SvcError("validation_failed", `Change request #${number} can have at most ${max} ${words}.`);
  return now.filter((person) => rows.some((row) => row.userId === person.userId));
}

/** @throws not_open, validation_failed */
function requireReviewers({ number, status, createdBy }: Row, wanted: readonly Person[]): void {
  if (wanted.length === 0) return;
  if (status !== "open")
    throw new SvcError(
      "not_open",
      `Change request #${number} is ${status}. Only an open change request can be reviewed.`,
    );
  const author = wanted.find(({ userId }) => userId === createdBy);
  if (author)
    throw new SvcError(
      "validation_failed",
      `${author.name} opened change request #${number}, or an agent did on their behalf, so another person must review it.`,
    );
}

const idsOf = (people: readonly Person[]): string[] => people.map(({ userId }) => userId);
