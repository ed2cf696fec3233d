import { and, eq, inArray, or } from "drizzle-orm";
import { changeRequestComments } from "../../../db/schema/index.ts";
import type { SentToSession } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { isOfOpenThread, selectComments } from "./comments/list.ts";
import type { AuthoredComment } from "./comments/row.ts";
import { promptSession, requireUnmerged } from "./prompt-session.ts";
import { DATA, dataLines, nameOf, whenDone } from "./prompt-text.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/** Comments that are read; a prompt holds fewer. */
const COMMENTS_READ = 1_000;
/** Characters of one comment in a prompt; the agent can read the rest with `svc cr comments`. */
const BODY_MAX = 4_000;

/**
 * Sends review comments to the agent that works on an open change request: all unresolved threads, or those of the given
 * comments.
 * @throws not_open, no_open_comments, not_found, and what `promptSession` throws
 */
export async function sendToSession(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  commentIds: readonly string[] | undefined,
): Promise<SentToSession> {
  const row = await findChangeRequest(deps.db, project, name);
  requireUnmerged(row);
  const threads = await threadsOf(deps, row, commentIds);
  if (threads.length === 0)
    throw new SvcError(
      "no_open_comments",
      `Change request #${row.number} has no unresolved comments. Comment on it first: svc cr comment ${row.number}`,
    );
  return await promptSession(deps, caller, project, row, (isNew) => textOf(row, threads, isNew));
}

type Thread = [first: AuthoredComment, ...replies: AuthoredComment[]];

async function threadsOf(
  deps: Deps,
  { crId, number }: CrRow,
  ids: readonly string[] | undefined,
): Promise<Thread[]> {
  const ofCr = eq(changeRequestComments.crId, crId);
  const condition = ids === undefined ? isOfOpenThread : await isOfThreads(deps, { crId, number }, ids);
  const threads = new Map<string, Thread>();
  for (const comment of await selectComments(deps.db, and(ofCr, condition), COMMENTS_READ)) {
    const thread = threads.get(comment.replyTo ?? comment.commentId);
    if (thread) thread.push(comment);
    else threads.set(comment.commentId, [comment]);
  }
  return [...threads.values()];
}

/** @throws not_found when one of them is not a comment on the change request */
async function isOfThreads(
  deps: Deps,
  { crId, number }: Pick<CrRow, "crId" | "number">,
  ids: readonly string[],
) {
  const { commentId, replyTo } = changeRequestComments;
  const wanted = [...new Set(ids.map((id) => id.toLowerCase()))];
  const named = await deps.db
    .select({ commentId, replyTo })
    .from(changeRequestComments)
    .where(and(eq(changeRequestComments.crId, crId), inArray(commentId, wanted)));
  if (named.length < wanted.length)
    throw new SvcError(
      "not_found",
      `At least one of the comment ids does not belong to change request #${number}. List them with: svc cr comments ${number}`,
    );
  const firsts = named.map((row) => row.replyTo ?? row.commentId);
  return or(inArray(commentId, firsts), inArray(replyTo, firsts));
}

function textOf(row: CrRow, threads: readonly Thread[], isNew: boolean): string {
  const { lines, left } = dataLines(threads.map(threadData));
  const rest = left > 0 ? `\n${left} more did not fit: svc cr comments ${row.number} --open` : "";
  return `Reviewers commented on ${nameOf(row)}. Make the changes that they request; where you disagree, leave the code and say why.

${DATA} These are the threads of the review, with file and line if they have one.

${lines}${rest}

${whenDone(row, isNew)} Reply briefly to each thread, by its comment_id: svc cr comment ${row.number} --reply-to <comment_id> "…" Do not resolve threads; the reviewers do that.`;
}

function threadData([first, ...replies]: Thread) {
  const { commentId, path, line, side, quote } = first;
  return {
    comment_id: commentId,
    ...(path !== null && { file: path }),
    ...(line !== null && {
      line,
      side: side === "old" ? "before the change" : "after the change",
      text_of_line: quote,
    }),
    ...said(first),
    ...(replies.length > 0 && { replies: replies.map(said) }),
  };
}

function said({ authorName, byAgent, body }: AuthoredComment) {
  const comment = body.length > BODY_MAX ? `${body.slice(0, BODY_MAX).toWellFormed()} … (cut)` : body;
  return { by: byAgent ? `an agent of ${authorName}` : authorName, comment };
}
