import { Type } from "@sinclair/typebox";
import { SvcError } from "../contract/errors.ts";
import { PAGE_DEFAULT, PAGE_MAX } from "../contract/limits.ts";

/** The longest cursor, in characters: one with a branch name. */
const CURSOR_MAX = 400;

/** The query of every list: `?limit=` and an opaque `?cursor=`. */
export const pageQuery = {
  limit: Type.Optional(
    Type.String({
      pattern: "^[1-9][0-9]{0,2}$",
      description: `1 to ${PAGE_MAX}; ${PAGE_DEFAULT} if left out`,
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: CURSOR_MAX })),
};

/** A requested page of a list. */
export interface Page {
  limit: number;
  cursor: string | undefined;
}

/** @throws validation_failed for a limit out of bounds. */
export function readPage(query: { limit?: string; cursor?: string }): Page {
  const limit = query.limit === undefined ? PAGE_DEFAULT : Number(query.limit);
  if (limit > PAGE_MAX) throw new SvcError("validation_failed", `limit must be at most ${PAGE_MAX}.`);
  return { limit, cursor: query.cursor };
}

/** Cuts a page from rows that were read with one more than `limit`; the next page begins after `key`. */
export function page<Row>(rows: Row[], limit: number, key: (row: Row) => string) {
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    rows: rows.slice(0, limit),
    next: last === undefined ? {} : { next_cursor: encodeCursor(key(last)) },
  };
}

/** A cursor that `readCursor` decodes. */
export const encodeCursor = (key: string): string => Buffer.from(key).toString("base64url");

/**
 * Decodes a cursor of `page`.
 * @throws validation_failed
 */
export function readCursor(cursor: string | undefined, shape: RegExp): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  if (!shape.test(text))
    throw new SvcError(
      "validation_failed",
      "The cursor is not valid for this list. Begin again without one, and pass next_cursor unchanged.",
    );
  return text;
}

/** Shape of a change request's number inside a cursor. */
export const NUMBER_CURSOR = /^[1-9]\d{0,8}$/;
