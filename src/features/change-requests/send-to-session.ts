import type { SentToSession } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { type ApprovalRow, approvalsOf, requestsIn } from "./approved.ts";
import { promptSession, requireUnmerged } from "./prompt-session.ts";
import { DATA, nameOf, quote, quoteAll, whenDone } from "./prompt-text.ts";
import { readThreads, threadText } from "./review-threads.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/**
 * Sends a review to the agent that works on an open change request: all requested changes and unresolved threads, or the
 * threads of the given comments.
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
  const threads = await readThreads(deps, project, row, commentIds);
  const requests = commentIds === undefined ? requestsIn(await approvalsOf(deps.db, [row.crId])) : [];
  if (threads.length === 0 && requests.length === 0)
    throw new SvcError(
      "no_open_comments",
      `Change request #${row.number} has no unresolved comments. Comment on it first: svc cr comment ${row.number}`,
    );
  return await promptSession(deps, caller, project, row, (isNew) =>
    textOf(row, [...requests.map(requestText), ...threads.map(threadText)], isNew),
  );
}

function requestText({ name, body }: ApprovalRow): string {
  return `${name.replace(/\s+/g, " ")} requests changes before the merge:\n${quote(body ?? "")}`;
}

function textOf(row: CrRow, said: readonly string[], isNew: boolean): string {
  const { quoted, left } = quoteAll(said, "\n\n");
  const rest = left > 0 ? `\n\n${left} more did not fit: svc cr comments ${row.number} --open` : "";
  return `Reviewers commented on ${nameOf(row)}. Make the changes that they request; where you disagree, leave the code and say why.

${DATA} These are the requested changes and the threads of the review, with file and line if they have one.

${quoted}${rest}

${whenDone(row, isNew)} Reply briefly to each thread, by its id: svc cr comment ${row.number} --reply-to <id> "…" Do not resolve threads; the reviewers do that.`;
}
