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
  const parts = partsOf(projectId, word);
  if (number === undefined) return { all: [parts], also: [] };
  const named = arrayOf([term(projectId, `number:${number}`)]);
  return { all: [], also: [sql`(${changeRequestTerms} @> ${parts} or ${changeRequestTerms} @> ${named})`] };
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

/** The rows of the index that meet all conditions, in no order. The barrier `offset 0` leaves the planner this index only. */
export function candidates({ all, also }: Indexed, block: SQL | null): SQL {
  // the block once more by itself, and first: GIN then begins to read the lists of the others there
  const terms = block === null ? all : [...all, block];
  const conditions = [
    ...(block === null ? [] : [sql`${changeRequestTerms} @> ${block}`]),
    ...(terms.length === 0 ? [] : [sql`${changeRequestTerms} @> (${sql.join([...terms], sql` || `)})`]),
    ...also,
  ];
  return sql`(select * from ${changeRequests} where ${sql.join(conditions, sql` and `)} offset 0) as ${changeRequests}`;
}

/** The numbers of a block are those with the same value of `number >> BLOCK_BITS`. */
export const BLOCK_BITS = 14;

/** The term of a block whose number is an expression. */
export const blockTerm = (projectId: string, block: SQL): SQL =>
  sql`array[hashtextextended('block:' || ${block}, hashtextextended(${projectId}::uuid::text, 0))]`;
