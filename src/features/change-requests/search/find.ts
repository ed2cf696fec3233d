import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequests } from "../../../../db/schema/index.ts";
import type { Sort } from "../../../contract/search/qualifiers.ts";
import { type CrRow, crColumns } from "../row.ts";
import type { Condition } from "./conditions.ts";
import { BLOCK_BITS, candidates, type Indexed, together } from "./index-terms.ts";
import { after, isByNumber, type Key, keyColumns, order } from "./order.ts";

/*
 * A search for a word that every row has, and one for a word that none has, need different plans, and Postgres cannot know which:
 * it has no statistics of parts of words. So there are three queries, each with one possible plan, and the next one runs if a page
 * is not full and there may be more rows.
 *
 * 1. Walk: the next WALK rows in the order of the list. What a tenth of the rows have ends here, and so do small projects.
 * 2. Few: all rows that the index has, sorted, unless they are more than FEW_MAX. What few rows or none have ends here.
 *    The ids that another table has for a condition are counted and sorted in the same way.
 * 3. Many: in the order of numbers, what the index has, block after block of them. In the order of changes, or if no condition has an
 *    index, a longer walk.
 *
 * Each reads a bounded number of rows. If it has not seen all, the page has a cursor after the last row that it has seen.
 */

/** Rows that are read at first, whether they match or not. */
const WALK = 500;
/** Blocks of numbers that are read first: what one of 300 rows has ends here. */
const NEAR = 2;
/** Rows of the index that are sorted. */
const FEW_MAX = 2000;
/** Rows of the index that are read block after block; their other conditions are evaluated one after the other. */
const MANY_MAX = 2000;
/** Rows of a longer walk: 10 to 20 ms. */
const WALK_MAX = 5000;

interface Wanted {
  projectId: string;
  conditions: readonly Condition[];
  sort: Sort;
  /** The rows after this one. */
  cursor: Key | null;
  limit: number;
}

export interface Found {
  rows: CrRow[];
  /** Where the next page continues; null: there is none. */
  next: Key | null;
}

/** A page of the change requests that meet all conditions. It can have fewer rows than `limit` although there are more. */
export async function find(db: Db, wanted: Wanted): Promise<Found> {
  const first = await read(db, wanted, walk(wanted, WALK), WALK);
  if (first.isEnough || first.isAll) return first;
  for (const ids of wanted.conditions.flatMap((condition) => condition.ids ?? []))
    if ((await countOf(db, ids)) <= FEW_MAX)
      return await read(db, wanted, sorted(wanted, rowsOf(ids)), FEW_MAX + 1);
  const indexed = together(wanted.conditions.flatMap(({ indexed: each }) => each ?? []));
  if (indexed !== null) {
    if (isByNumber(wanted.sort)) {
      const near = await read(db, wanted, inBlocks(wanted, indexed, NEAR), MANY_MAX);
      if (near.isEnough) return near;
    }
    const few = await read(
      db,
      wanted,
      sorted(wanted, candidates(wanted.projectId, indexed, null)),
      FEW_MAX + 1,
    );
    if (few.candidates <= FEW_MAX) return few;
    if (isByNumber(wanted.sort)) return await read(db, wanted, inBlocks(wanted, indexed, null), MANY_MAX);
  }
  return await read(db, wanted, walk(wanted, WALK_MAX), WALK_MAX);
}

/** @param max the number of rows that `source` has at most */
async function read(db: Db, { conditions, sort, limit }: Wanted, source: SQL, max: number) {
  const matches = sql.join([sql`true`, ...conditions.map(({ where }) => where)], sql` and `);
  // counted as they are read, so that a page that is full ends the reading
  const read = sql`(select cr_id, row_number() over () as place, ${matches} as matches, candidates from ${source}) as read`;
  const found = await db
    .select({
      row: crColumns,
      key: keyColumns(sort),
      matches: sql<boolean>`coalesce(found.matches, false)`,
      place: sql`found.place`.mapWith(Number),
      candidates: sql`found.candidates`.mapWith(Number),
    })
    .from(sql`(select * from ${read} where matches or place = ${max} limit ${limit + 1}) as found`)
    .innerJoin(changeRequests, sql`${changeRequests.crId} = found.cr_id`)
    .orderBy(sql`found.place`);
  const matching = found.filter((row) => row.matches);
  const isEnough = matching.length > limit;
  const isAll = found.every(({ place }) => place < max);
  const last = isEnough ? matching[limit - 1] : isAll ? undefined : found.at(-1);
  return {
    rows: matching.slice(0, limit).map(({ row }) => row),
    next: last?.key ?? null,
    isEnough,
    isAll,
    /** Those that the source has, if it counts them. */
    candidates: found[0]?.candidates ?? 0,
  };
}

const uncounted = sql`0 as candidates`;
const ofProject = ({ projectId, sort, cursor }: Wanted): SQL =>
  sql`${and(eq(changeRequests.projectId, projectId), after(sort, cursor))}`;

/** The next rows in the order of the list. */
const walk = (wanted: Wanted, max: number): SQL =>
  sql`(select *, ${uncounted} from ${changeRequests} where ${ofProject(wanted)} order by ${order(wanted.sort)} limit ${max}) as ${changeRequests}`;

/** What the index has, block after block. @param count of blocks; null: all */
function inBlocks(
  { projectId, sort, cursor, ...wanted }: Wanted,
  indexed: Indexed,
  count: number | null,
): SQL {
  const first = sql`0`;
  const last = sql`(select max(number) >> ${BLOCK_BITS}::integer from change_requests where project_id = ${projectId})`;
  const [start, end, step] = sort === "created-asc" ? [first, last, sql`1`] : [last, first, sql`-1`];
  const from = cursor === null ? start : sql`${cursor.number >> BLOCK_BITS}::integer`;
  const blocks = sql`(select block from generate_series(${from}, ${end}, ${step}) as block limit ${count}) as blocks`;
  const ofBlock = candidates(projectId, indexed, sql`block`);
  const condition = ofProject({ projectId, sort, cursor, ...wanted });
  return sql`(select ${changeRequests}.*, ${uncounted} from ${blocks}, lateral
    (select * from ${ofBlock} where ${condition} order by ${order(sort)}) as ${changeRequests} limit ${MANY_MAX}) as ${changeRequests}`;
}

/** How many ids a query has; of more than `FEW_MAX`, one more than that. */
async function countOf(db: Db, ids: SQL): Promise<number> {
  const [row] = await db
    .select({ count: sql`count(*)`.mapWith(Number) })
    .from(sql`(${ids} limit ${FEW_MAX + 1}) as ids`);
  return row?.count ?? 0;
}

/** The change requests with the ids of a query that has few. */
const rowsOf = (ids: SQL): SQL =>
  sql`(select * from ${changeRequests} where cr_id = any(array(${ids}))) as ${changeRequests}`;

/** All rows of a source, sorted; one row more than allowed if there are too many. */
function sorted(wanted: Wanted, source: SQL): SQL {
  const some = sql`(select * from ${source} where ${ofProject(wanted)} limit ${FEW_MAX + 1}) as ${changeRequests}`;
  return sql`(select *, count(*) over () as candidates from ${some} order by ${order(wanted.sort)}) as ${changeRequests}`;
}
