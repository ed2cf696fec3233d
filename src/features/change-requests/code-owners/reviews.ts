import type { Db } from "../../../../db/client.ts";
import type {
  CodeOwnerReviews,
  MissingReview,
  OwnedFiles,
  Ownership,
} from "../../../contract/code-owners.ts";
import { SvcError } from "../../../contract/errors.ts";
import { listed, shorten } from "../../../http/text.ts";
import type { Protection } from "../../projects/protection.ts";
import { type ApprovalRow, approvalsOf, counts } from "../approved.ts";
import type { CrRow } from "../row.ts";
import { membersNamed, ownersIn } from "./members.ts";
import { storedOwnership } from "./ownership.ts";

type Row = Pick<CrRow, "crId" | "accountId" | "number" | "status" | "createdBy" | "headCommitSha">;
type Rule = Pick<Protection, "requireCodeOwnerReview" | "selfApproval">;

/**
 * Enforces that of the owners of each changed file one has approved the head that is merged.
 * @param tx has locked the row of the change request, so no approval is withdrawn meanwhile
 * @param ownership of that head, and of the base that it is merged into; null: the project does not require it
 * @throws code_owner_review_required
 */
export async function requireOwnerReviews(
  tx: Db,
  row: Pick<Row, "crId" | "accountId" | "number" | "createdBy">,
  head: string,
  rule: Rule,
  ownership: Ownership | null,
): Promise<void> {
  if (ownership === null) return;
  const approvals = await approvalsOf(tx, [row.crId]);
  const find = await findOwners(tx, row.accountId, [ownership]);
  const missing = missingIn(ownership, find, judgeOf(row, head, rule, approvals));
  const [first, ...others] = missing;
  if (!first) return;
  const left = others.length === 1 ? "1 more line" : `${others.length} more lines`;
  const more = others.length > 0 ? ` So do the files of ${left} of CODEOWNERS.` : "";
  const { number } = row;
  throw new SvcError(
    "code_owner_review_required",
    `Change request #${number} needs the approval of a code owner: ${sentenceOf(first)}${more} See all that is missing: svc cr show ${number}`,
    { missing: missing.slice(0, MISSING_MAX) },
  );
}

/** Lines in an error. */
const MISSING_MAX = 20;

function sentenceOf({ files, total, owners, problem }: MissingReview): string {
  if (problem !== null) return problem;
  const rest = total - 1;
  const what = `${shorten(files[0] ?? "")}${rest > 0 ? ` and ${rest} more` : ""}`;
  return `${what} ${rest > 0 ? "belong" : "belongs"} to ${listed(owners.map(({ name }) => name))}.`;
}

/**
 * How far the code owners of open change requests have approved their heads, as their files were read last: by the ids of those
 * whose projects require that.
 */
export async function ownerReviewsOf(
  db: Db,
  rows: readonly { row: Row; rule: Rule }[],
  approvals: readonly ApprovalRow[],
): Promise<Map<string, CodeOwnerReviews>> {
  const asked = rows.filter(({ row, rule }) => row.status === "open" && rule.requireCodeOwnerReview);
  const stored = await storedOwnership(
    db,
    asked.map(({ row }) => row.crId),
  );
  const shown = new Map<string, CodeOwnerReviews>();
  for (const [accountId, own] of Map.groupBy(asked, ({ row }) => row.accountId)) {
    const known = own.flatMap(({ row }) => stored.get(row.crId)?.ownership ?? []);
    const find = await findOwners(db, accountId, known);
    for (const { row, rule } of own) {
      const read = stored.get(row.crId);
      const head = row.headCommitSha;
      if (!read || head === null || read.headSha !== head) {
        shown.set(row.crId, { state: "pending", missing: [] });
        continue;
      }
      const given = approvals.filter(({ crId }) => crId === row.crId);
      const missing = missingIn(read.ownership, find, judgeOf(row, head, rule, given));
      shown.set(row.crId, { state: missing.length === 0 ? "approved" : "missing", missing });
    }
  }
  return shown;
}

/** Whose approval there is, and whose cannot be. */
interface Judge {
  approvers: ReadonlySet<string>;
  /** Whose approval does not count. */
  author: string | null;
}

function judgeOf(
  { createdBy }: Pick<Row, "createdBy">,
  head: string,
  rule: Rule,
  approvals: readonly ApprovalRow[],
): Judge {
  const counting = approvals.filter((approval) => counts(approval, { createdBy }, head, rule));
  return {
    approvers: new Set(counting.map(({ userId }) => userId)),
    author: rule.selfApproval ? null : createdBy,
  };
}

type Find = Awaited<ReturnType<typeof membersNamed>>;

async function findOwners(db: Db, accountId: string, of: readonly Ownership[]): Promise<Find> {
  const words = of.flatMap(({ lines }) => lines.flatMap(({ owners }) => owners.filter(isAddress)));
  return await membersNamed(db, accountId, words);
}

/**
 * Only a verified address tells who is meant. A member could take the name of an owner who has another one, has left or has
 * not joined, and then approve in their place.
 */
const isAddress = (word: string): boolean => !word.startsWith("@");

function missingIn({ lines, isComplete }: Ownership, find: Find, judge: Judge): MissingReview[] {
  const missing = lines.flatMap((line) => missingOf(line, find, judge));
  if (isComplete) return missing;
  const problem =
    "It changes too many files to find the owners of all of them. Split it into smaller change requests.";
  return [{ line: null, files: [], total: 0, owners: [], problem }, ...missing];
}

function missingOf(
  { line, owners: words, isUnread, files, total }: OwnedFiles,
  find: Find,
  { approvers, author }: Judge,
): MissingReview[] {
  const owners = ownersIn(words.filter(isAddress).map(find));
  if (owners.some(({ user_id }) => approvers.has(user_id))) return [];
  const of = `Line ${line} of CODEOWNERS on the base branch`;
  const problem = isUnread
    ? `${of} cannot be read, and could name the owner of ${shorten(files[0] ?? "")}. Correct it.`
    : owners.length === 0
      ? `${of} names no member by a verified e-mail address. A name does not count, because members choose it.`
      : owners.every(({ user_id }) => user_id === author)
        ? `${of} names only the person who opened this, whose approval does not count. Name another owner.`
        : null;
  return [{ line, files, total, owners, problem }];
}
