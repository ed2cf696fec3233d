import type { ChangeRequest } from "../../../src/contract/change-request.ts";

/** A remark on a change request, or on a line of its diff. */
export interface ReviewComment {
  comment_id: string;
  cr_id: string;
  /** The first comment of its thread; null: it is that itself. */
  reply_to: string | null;
  body: string;
  path: string | null;
  line: number | null;
  side: "old" | "new" | null;
  /** What the line said. */
  quote: string | null;
  head_commit_sha: string | null;
  author: { user_id: string; name: string; kind: "user" | "agent"; session_id: string | null };
  resolved_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface Approval {
  user_id: string;
  name: string;
  head_commit_sha: string;
  created_at: string;
  /** Whether it was given on what the branch holds now. */
  counts: boolean;
}

/** A change request with what a review adds to it. */
export interface ReviewedChangeRequest extends ChangeRequest {
  approvals?: Approval[];
  required_approvals?: number;
}

export interface Thread {
  first: ReviewComment;
  replies: ReviewComment[];
}

/** Comments by the conversations that they make, in the order in which these began. */
export function threadsOf(comments: readonly ReviewComment[]): Thread[] {
  const threads = new Map<string, Thread>();
  const ordered = [...comments].sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  for (const comment of ordered) {
    if (comment.reply_to === null) threads.set(comment.comment_id, { first: comment, replies: [] });
  }
  for (const comment of ordered) {
    if (comment.reply_to !== null) threads.get(comment.reply_to)?.replies.push(comment);
  }
  return [...threads.values()];
}
