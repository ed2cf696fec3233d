import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Comment } from "../../../src/contract/comment.ts";
import type { View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { count, lines, oneLine } from "../../text.ts";

/** Comments by thread for a terminal, or one per row for a script. */
export function commentsOf(comments: readonly Comment[], view: View): string {
  if (!view.tty) return comments.length === 0 ? "" : table(comments, COLUMNS, view);
  return threadsOf(comments)
    .map(([first, ...replies]) => thread(first, replies, view))
    .join("\n");
}

const COLUMNS: Column<Comment>[] = [
  { title: "ID", value: ({ comment_id }) => comment_id },
  { title: "THREAD", value: ({ comment_id, reply_to }) => reply_to ?? comment_id },
  { title: "WHERE", value: (comment) => `${comment.path ?? ""}${linesOf(comment)}` },
  { title: "BY", value: authorOf },
  { title: "RESOLVED", value: ({ resolved_at }) => resolved_at ?? "" },
  { title: "CREATED", value: ({ created_at }) => created_at },
  { title: "TEXT", value: ({ body }) => body },
];

type Thread = [first: Comment, ...replies: Comment[]];

/** A reply whose thread's first comment is missing is shown as a separate thread. */
function threadsOf(comments: readonly Comment[]): Thread[] {
  const threads = new Map<string, Thread>();
  for (const comment of comments) {
    const thread = threads.get(comment.reply_to ?? comment.comment_id);
    if (thread) thread.push(comment);
    else threads.set(comment.comment_id, [comment]);
  }
  return [...threads.values()];
}

function thread(first: Comment, replies: readonly Comment[], view: View): string {
  const { paint } = view;
  const state = first.resolved_at === null ? "" : `  ${paint.green("resolved")}`;
  const quote = first.quote === null ? "" : `${paint.dim(`> ${oneLine(first.quote)}`)}\n`;
  const head = `${paint.bold(placeOf(first))}${state}\n${quote}`;
  return head + [first, ...replies].map((comment) => commentText(comment, view)).join("");
}

function commentText(comment: Comment, { paint, now }: View): string {
  const by = `${oneLine(authorOf(comment))}, ${ago(comment.created_at, now)}  ${paint.dim(comment.comment_id)}`;
  const words = lines(comment.body).trimEnd().split("\n");
  return `  ${by}\n${words.map((line) => `    ${line}\n`).join("")}`;
}

function authorOf({ author }: Comment): string {
  if (author.kind === "token") return `the token "${author.name}"`;
  return author.kind === "agent" ? `an agent of ${author.name}` : author.name;
}

/** The position of a comment: `on src/login.ts:12`, `on src/login.ts:10-12`, `on src/login.ts:12 (outdated)`. */
export function placeOf(comment: Comment): string {
  const { path, line, side, reply_to } = comment;
  if (reply_to !== null) return `in the thread ${reply_to}`;
  if (path === null) return "on the change request";
  const before = line !== null && side === "old" ? " (before the change)" : "";
  return `on ${oneLine(path)}${linesOf(comment)}${before}`;
}

function linesOf({ line, start_line, outdated, original_line, original_start_line }: Comment): string {
  const [first, last] = outdated ? [original_start_line, original_line] : [start_line, line];
  if (last === null) return "";
  return `:${first === null ? last : `${first}-${last}`}${outdated ? " (outdated)" : ""}`;
}

/** `2 of 3 approvals`, or their number if none is required, and who requested changes. */
export function approvalsText(cr: ChangeRequest): string {
  const { approvals, required_approvals } = cr;
  const counting = approvals.filter(({ counts }) => counts).length;
  const requests = requestsOf(cr);
  const stale = approvals.length - counting - requests.length;
  const earlier = stale > 0 ? ` (${stale} of an earlier commit)` : "";
  const by = requests.map(({ name }) => oneLine(name)).join(", ");
  const blocked = by === "" ? "" : `; changes requested by ${by}`;
  if (required_approvals === 0) return `${count(counting, "approval")}${earlier}${blocked}`;
  return `${counting} of ${count(required_approvals, "approval")}${earlier}${blocked}`;
}

/** The requests for changes, which block the merge. */
export function requestsOf({ approvals }: ChangeRequest): ChangeRequest["approvals"] {
  return approvals.filter(({ state }) => state === "changes_requested");
}
