import { and, asc, eq, gt, isNull, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Db } from "../../../../db/client.ts";
import { changeRequestComments, users } from "../../../../db/schema/index.ts";
import type { Comment } from "../../../contract/comment.ts";
import type { Deps } from "../../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../../http/page.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findChangeRequest } from "../row.ts";
import { placeNow } from "./place.ts";
import { type AuthoredComment, commentToWire } from "./row.ts";

/**
 * The comments of a change request, oldest first.
 * @param isOpen only those of threads that are not resolved
 */
export async function listComments(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { limit, cursor, isOpen }: Page & { isOpen: boolean },
): Promise<{ comments: Comment[]; next_cursor?: string }> {
  const cr = await findChangeRequest(deps.db, project, name);
  const after = Number(readCursor(cursor, NUMBER_CURSOR) ?? 0);
  const found = await selectComments(
    deps.db,
    and(
      eq(changeRequestComments.crId, cr.crId),
      gt(changeRequestComments.number, after),
      isOpen ? isOfOpenThread : undefined,
    ),
    limit + 1,
  );
  const { rows, next } = page(found, limit, ({ number }) => String(number));
  return { comments: (await placeNow(deps, project, cr, rows)).map(commentToWire), ...next };
}

/** The first comment of the thread of a reply. */
const first = alias(changeRequestComments, "first");

/** For `selectComments`: comments of threads that are not resolved. */
export const isOfOpenThread = isNull(sql`coalesce(${first.resolvedAt}, ${changeRequestComments.resolvedAt})`);

/** Comments, oldest first. */
export async function selectComments(
  db: Db,
  condition: SQL | undefined,
  limit: number,
): Promise<AuthoredComment[]> {
  const rows = await db
    .select({ comment: changeRequestComments, authorName: users.name })
    .from(changeRequestComments)
    .innerJoin(users, eq(users.userId, changeRequestComments.createdBy))
    .leftJoin(first, eq(first.commentId, changeRequestComments.replyTo))
    .where(condition)
    .orderBy(asc(changeRequestComments.crId), asc(changeRequestComments.number))
    .limit(limit);
  return rows.map(({ comment, authorName }) => ({ ...comment, authorName }));
}
