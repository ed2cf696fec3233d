import type { Comment } from "../../../src/contract/comment.ts";

export interface Thread {
  first: Comment;
  replies: Comment[];
}

/** Groups comments into threads, in the order in which the threads began. */
export function threadsOf(comments: readonly Comment[]): Thread[] {
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
