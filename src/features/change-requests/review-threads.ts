import { and, eq, inArray, or, type SQL } from "drizzle-orm";
import { changeRequestComments } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { isOfOpenThread, selectComments } from "./comments/list.ts";
import { placeNow } from "./comments/place.ts";
import { type AuthoredComment, placeOf } from "./comments/row.ts";
import { asData, quote } from "./prompt-text.ts";
import type { CrRow } from "./row.ts";

/** Comments that are read; a prompt holds fewer. */
const COMMENTS_READ = 1_000;
/** Characters of one comment in a prompt; the agent can read the rest with `svc cr comments`. */
const BODY_MAX = 4_000;

export type Thread = [first: AuthoredComment, ...replies: AuthoredComment[]];

/**
 * Threads of a change request for an agent, with their lines at its head: all unresolved ones, or those of the given
 * comments.
 * @throws not_found when one of them is not a comment on the change request
 */
export async function readThreads(
  deps: Deps,
  project: ProjectRow,
  cr: CrRow,
  ids: readonly string[] | undefined,
): Promise<Thread[]> {
  const ofCr = eq(changeRequestComments.crId, cr.crId);
  const condition = ids === undefined ? isOfOpenThread : await isOfThreads(deps, cr, ids);
  const threads = new Map<string, Thread>();
  const found = await selectComments(deps.db, and(ofCr, condition), COMMENTS_READ);
  for (const comment of await placeNow(deps, project, cr, found)) {
    const thread = threads.get(comment.replyTo ?? comment.commentId);
    if (thread) thread.push(comment);
    else threads.set(comment.commentId, [comment]);
  }
  return [...threads.values()];
}

async function isOfThreads(
  deps: Pick<Deps, "db">,
  { crId, number }: Pick<CrRow, "crId" | "number">,
  ids: readonly string[],
): Promise<SQL | undefined> {
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

/** A thread as text: its place, then who said what. What people wrote is quoted, so that it cannot pass for either. */
export function threadText([first, ...replies]: Thread): string {
  return [where(first), ...[first, ...replies].map(saidIn)].join("\n\n");
}

function where(comment: AuthoredComment): string {
  const { commentId, side, quote: lineText } = comment;
  const { path, line, start_line, outdated } = placeOf(comment);
  const file = path === null ? "" : ` on ${asData(path)}`;
  const shown = lineText === null ? "" : `:\n${quote(lineText)}`;
  if (outdated)
    return `Comment ${commentId}${file}, line ${comment.line} of an earlier commit, changed since${shown}`;
  if (line === null) return `Comment ${commentId}${file}`;
  const lines = start_line === null ? `line ${line}` : `lines ${start_line} to ${line}`;
  const when = side === "old" ? "before" : "after";
  return `Comment ${commentId}${file}, ${lines} ${when} the change${shown}`;
}

function saidIn({ authorName, byAgent, body }: AuthoredComment): string {
  const text = body.length > BODY_MAX ? `${body.slice(0, BODY_MAX).toWellFormed()} … (cut)` : body;
  const name = authorName.replace(/\s+/g, " ");
  return `${byAgent ? `An agent of ${name}` : name}:\n${quote(text)}`;
}
