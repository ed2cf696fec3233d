import { type SQL, sql } from "drizzle-orm";
import { changeRequests, changeRequestTerms } from "../../../../db/schema/index.ts";

/**
 * What a condition requires of the index of `change_request_terms`: all of the terms of `all`, and
 * `also`. The rows of the index are candidates: the condition itself decides.
 */
export interface Indexed {
  /** Arrays of terms. */
  all: readonly SQL[];
  also: readonly SQL[];
  /** The change request of this number is a candidate whatever its terms are. */
  number?: number | undefined;
}

/** A term that is the value of a column, of the project. */
const term = (projectId: string, name: string): SQL =>
  sql`hashtextextended(${name}::text, hashtextextended(${projectId}::uuid::text, 0))`;

const arrayOf = (terms: readonly SQL[]): SQL => sql`array[${sql.join([...terms], sql`, `)}]::bigint[]`;

/** It has this value. */
export const hasTerm = (projectId: string, name: string): Indexed => ({
  all: [arrayOf([term(projectId, name)])],
  also: [],
});

/** It has one of these values. */
export const hasAnyTerm = (projectId: string, names: readonly string[]): Indexed => ({
  all: [],
  also: [sql`${changeRequestTerms} && ${arrayOf(names.map((name) => term(projectId, name)))}`],
});

/** Its title or branches have the parts of the word, or it has the number. */
export function hasWord(projectId: string, word: string, number: number | undefined): Indexed {
  return { all: [partsOf(projectId, word)], also: [], number };
}

/** What the index can say of several conditions together; null: nothing. */
export function together(conditions: readonly Indexed[]): Indexed | null {
  const numbers = conditions.flatMap(({ number }) => number ?? []);
  // of two numbers, each would be an exception to the other one
  const used = numbers.length > 1 ? conditions.filter(({ number }) => number === undefined) : conditions;
  if (used.length === 0) return null;
  return {
    all: used.flatMap(({ all }) => all),
    also: used.flatMap(({ also }) => also),
    number: numbers.length > 1 ? undefined : numbers[0],
  };
}

/**
 * Parts of three characters that cover the word, or all of a shorter one; an empty one has none. The index has every part, but
 * each costs time to read.
 */
function partsOf(projectId: string, word: string): SQL {
  const text = word.replaceAll("\0", "");
  return sql`array(select hashtextextended(substr(word, least(place, greatest(1, length(word) - 2)), 3), hashtextextended(${projectId}::uuid::text, 0))
    from (select lower(${text}::text)) as given (word), generate_series(1, length(word), 3) as place)`;
}

/**
 * The rows of the index that meet all conditions, in no order. The barrier `offset 0` leaves the planner this index only: an `or`
 * would have it evaluate the terms of each row.
 */
export function candidates(projectId: string, { all, also, number }: Indexed, block: SQL | null): SQL {
  const blocked = block === null ? [] : [blockTerm(projectId, block)];
  const terms = [...all, ...blocked];
  const conditions = [
    // the block once more by itself, and first: GIN then begins to read the lists of the others there
    ...blocked.map((each) => sql`${changeRequestTerms} @> ${each}`),
    ...(terms.length === 0 ? [] : [sql`${changeRequestTerms} @> (${sql.join([...terms], sql` || `)})`]),
    ...also,
  ];
  const found = sql`(select * from ${changeRequests} where ${sql.join(conditions, sql` and `)} offset 0) as ${changeRequests}`;
  if (number === undefined) return found;
  const inBlock =
    block === null ? sql`true` : sql`${changeRequests.number} >> ${BLOCK_BITS}::integer = ${block}`;
  return sql`(select * from ${found} where ${changeRequests.number} <> ${number} union all
    select * from ${changeRequests} where ${changeRequests.projectId} = ${projectId} and ${changeRequests.number} = ${number} and ${inBlock}
    ) as ${changeRequests}`;
}

/** The numbers of a block are those with the same value of `number >> BLOCK_BITS`. */
export const BLOCK_BITS = 14;

/** The term of a block. @param block an expression */
const blockTerm = (projectId: string, block: SQL): SQL =>
  sql`array[hashtextextended('block:' || ${block}, hashtextextended(${projectId}::uuid::text, 0))]`;
