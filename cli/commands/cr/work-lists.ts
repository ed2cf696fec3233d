import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { View } from "../../output.ts";
import { type Column, table } from "../../table-print.ts";
import { checksText } from "./checks.ts";
import { approvalsText } from "./show-comments.ts";
import { statusPaint } from "./show-cr.ts";

/** One list of an overview: under a title on a terminal, as rows for a script. Nothing if it is empty. */
export function listText<Row>(
  title: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  view: View,
): string {
  if (rows.length === 0) return "";
  return `${view.tty ? `\n${view.paint.bold(title)}\n` : ""}${table(rows, [...columns], view)}`;
}

/** Scripts get one kind of row a list, by its first column. */
export const kindColumn = <Row>(name: string, view: View): Column<Row>[] =>
  view.tty ? [] : [{ title: "KIND", value: () => name }];

export const crColumns = (name: string, view: View): Column<ChangeRequest>[] => [
  ...kindColumn<ChangeRequest>(name, view),
  {
    title: "CR",
    value: ({ number }) => String(number),
    shown: ({ number }) => `#${number}`,
    paint: ({ status }) => statusPaint(view.paint, status),
  },
  { title: "TITLE", value: ({ title }) => title, flexible: true },
  { title: "CHECKS", value: ({ checks }) => checksText(checks) ?? "none" },
  { title: "APPROVALS", value: (cr) => `${approvalsText(cr)}${ownersText(cr)}` },
];

const ownersText = ({ code_owner_reviews: reviews }: ChangeRequest): string =>
  reviews?.state === "missing" ? "; waits for code owners" : "";

/** Whether a person's review is wanted: it was asked for, or it is not given and there are not enough other approvals. */
export function waitsFor(me: string, cr: ChangeRequest): boolean {
  const { approvals, required_approvals, head_commit_sha } = cr;
  if (cr.requested_reviewers.some(({ user_id }) => user_id === me)) return true;
  if (cr.draft) return false;
  const mine = approvals.find(({ user_id }) => user_id === me);
  if (mine?.state === "changes_requested") return mine.head_commit_sha !== head_commit_sha;
  const counting = approvals.filter(({ counts }) => counts);
  if (counting.some(({ user_id }) => user_id === me)) return false;
  if (cr.code_owner_reviews?.missing.some(({ owners }) => owners.some(({ user_id }) => user_id === me)))
    return true;
  return required_approvals === 0 ? counting.length === 0 : counting.length < required_approvals;
}
