import { type SQL, sql } from "drizzle-orm";
import { changeRequests } from "../../../../db/schema/index.ts";
import type { Sort } from "../../../contract/search/qualifiers.ts";
import { NUMBER_CURSOR, readCursor } from "../../../http/page.ts";

/** The place of a row in a list. */
export interface Key {
  number: number;
  /** When it was changed last, in microseconds since 1970, in lists that are sorted by that. */
  updated: string | null;
}

const { number, updatedAt } = changeRequests;

/** Shape of a key of a list that is sorted by the last change. */
const UPDATED_CURSOR = /^\d{1,17} [1-9]\d{0,8}$/;

/** Numbers are given in the order of creation. */
export const isByNumber = (sort: Sort): boolean => sort === "created-desc" || sort === "created-asc";

export const order = (sort: Sort): SQL =>
  ({
    "created-desc": sql`${number} desc`,
    "created-asc": sql`${number}`,
    "updated-desc": sql`${updatedAt} desc, ${number} desc`,
    "updated-asc": sql`${updatedAt}, ${number}`,
  })[sort];

/** The rows that come after a key. */
export function after(sort: Sort, key: Key | null): SQL | undefined {
  if (key === null) return undefined;
  const than = sort.endsWith("-desc") ? sql`<` : sql`>`;
  return key.updated === null
    ? sql`${number} ${than} ${key.number}`
    : sql`(${updatedAt}, ${number}) ${than} (timestamptz 'epoch' + ${key.updated}::bigint * interval '1 microsecond', ${key.number})`;
}

export const keyColumns = (sort: Sort) => ({
  number,
  updated: isByNumber(sort)
    ? sql<string | null>`null::text`
    : sql<string | null>`(extract(epoch from ${updatedAt}) * 1000000)::bigint::text`,
});

/** @throws validation_failed, also for the cursor of a list that is sorted in another way */
export function readKey(sort: Sort, cursor: string | undefined): Key | null {
  const text = readCursor(cursor, isByNumber(sort) ? NUMBER_CURSOR : UPDATED_CURSOR);
  if (text === null) return null;
  const [last, updated = null] = text.split(" ").toReversed();
  return { number: Number(last), updated };
}

export const writeKey = ({ updated, number: last }: Key): string =>
  updated === null ? String(last) : `${updated} ${last}`;
