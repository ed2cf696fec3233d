import { and, desc, eq, lte, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import { type ChangeRequest, CR_STATUSES, type CrStatusFilter } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { parseSearch, type Term } from "../../contract/search/parse.ts";
import type { Sort } from "../../contract/search/qualifiers.ts";
import type { Deps } from "../../deps.ts";
import { encodeCursor, type Page } from "../../http/page.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { approvalsOf } from "./approved.ts";
import { followOwnership } from "./code-owners/follow.ts";
import { present, presentAll } from "./present.ts";
import { refresh } from "./refresh.ts";
import { crColumns, findChangeRequest } from "./row.ts";
import { conditionOf } from "./search/conditions.ts";
import { type Found, find } from "./search/find.ts";
import { labelsIn } from "./search/labels.ts";
import { type Key, readKey, writeKey } from "./search/order.ts";
import { peopleOf } from "./search/people.ts";

interface Filter {
  status: CrStatusFilter;
  /** A search in the language of `src/contract/search`. */
  q?: string | undefined;
  /** The exact name of the branch merged from. */
  headRef?: string | undefined;
  /** Only those of the caller. */
  own?: boolean;
}

/**
 * A project's change requests, newest first unless the search sorts them, with the current commits of the open ones.
 * @throws validation_failed for a search that cannot be read
 */
export async function listChangeRequests(
  deps: Deps,
  caller: Pick<Caller, "userId">,
  project: ProjectRow,
  filter: Filter,
  { limit, cursor }: Page,
) {
  const { terms, sort } = searchOf(filter);
  const key = readKey(sort, cursor);
  const status = sort === "created-desc" ? onlyStatus(terms) : null;
  const found = await (status === null
    ? search(deps, caller, project, terms, { sort, cursor: key, limit })
    : listed(deps.db, project, status, key, limit));
  const { rows, next } = found;
  // runs while the branches are listed
  const approvals = approvalsOf(
    deps.db,
    rows.map(({ crId }) => crId),
  );
  approvals.catch(() => {});
  const fresh = await refresh(deps, project, rows);
  const shown = await presentAll(deps, project, fresh.rows, fresh.listing, approvals);
  return { change_requests: shown, ...(next && { next_cursor: encodeCursor(writeKey(next)) }) };
}

/** A change request, with its current commits if it is open. */
export async function getChangeRequest(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<{ change_request: ChangeRequest }> {
  const row = await findChangeRequest(deps.db, project, name);
  const { rows, listing } = await refresh(deps, project, [row]);
  const [fresh = row] = rows;
  if (listing) await followOwnership(deps, project, fresh, listing);
  return { change_request: await present(deps, project, fresh, listing) };
}

/** The largest number that a change request can have. */
const NUMBER_MAX = 2 ** 31 - 1;

/** All that is asked for, in one search. */
function searchOf({ q = "", status, headRef, own = false }: Filter): { terms: readonly Term[]; sort: Sort } {
  const parsed = parseSearch(q);
  if ("problem" in parsed) throw new SvcError("validation_failed", `q: ${parsed.problem}`);
  const { terms, sort = "created-desc" } = parsed.search;
  const others = [
    ...given("is", status === "all" ? undefined : status),
    ...given("head", headRef),
    ...given("author", own ? "@me" : undefined),
  ];
  return { terms: [...terms, ...others], sort };
}

const given = (name: Term["name"], value: string | undefined): Term[] =>
  value === undefined ? [] : [{ name, value: value.replaceAll("\0", ""), not: false }];

/** The status, if nothing else is asked for. */
function onlyStatus(terms: readonly Term[]): CrStatusFilter | null {
  const [first, ...others] = terms;
  if (first === undefined) return "all";
  if (others.length > 0 || first.name !== "is" || first.not) return null;
  return CR_STATUSES.find((each) => each === first.value) ?? null;
}

async function search(
  deps: Deps,
  caller: Pick<Caller, "userId">,
  project: ProjectRow,
  terms: readonly Term[],
  page: { sort: Sort; cursor: Key | null; limit: number },
): Promise<Found> {
  const people = await peopleOf(deps.db, project, caller, terms);
  const labels = await labelsIn(deps.db, project, terms);
  const context = { project, gitVersion: deps.git.version, people, labels };
  const conditions = terms.map((term) => conditionOf(term, context));
  return await find(deps.db, { projectId: project.projectId, conditions, ...page });
}

/** A page of all, or of those with a status: the query is prepared. */
async function listed(
  db: Db,
  { projectId }: ProjectRow,
  status: CrStatusFilter,
  key: Key | null,
  limit: number,
): Promise<Found> {
  const wanted = { projectId, before: key === null ? NUMBER_MAX : key.number - 1, limit: limit + 1 };
  const found = await (status === "all"
    ? all(db).execute(wanted)
    : ofStatus(db).execute({ ...wanted, status }));
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { rows: found.slice(0, limit), next: last ? { number: last.number, updated: null } : null };
}

const hasStatus = eq(changeRequests.status, sql.placeholder("status"));
const all = prepared((db) => select(db, undefined).prepare("change_requests"));
const ofStatus = prepared((db) => select(db, hasStatus).prepare("change_requests_with_status"));

function select(db: Db, status: SQL | undefined) {
  return db
    .select(crColumns)
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, sql.placeholder("projectId")),
        lte(changeRequests.number, sql.placeholder("before")),
        status,
      ),
    )
    .orderBy(desc(changeRequests.number))
    .limit(sql.placeholder("limit"));
}
