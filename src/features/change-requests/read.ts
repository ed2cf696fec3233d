import { and, desc, eq, ilike, lte, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { containing } from "../../../db/containing.ts";
import { prepared } from "../../../db/prepared.ts";
import { changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest, CrStatusFilter } from "../../contract/change-request.ts";
import type { Deps } from "../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { approvalsOf } from "./approved.ts";
import { present, presentAll } from "./present.ts";
import { refresh } from "./refresh.ts";
import { crColumns, findChangeRequest } from "./row.ts";

interface Filter {
  status: CrStatusFilter;
  q?: string | undefined;
  /** The exact name of the branch merged from. */
  headRef?: string | undefined;
  /** The user who opened them. */
  createdBy?: string | undefined;
}

/** A project's change requests, newest first, with the current commits of the open ones. */
export async function listChangeRequests(
  deps: Deps,
  project: ProjectRow,
  filter: Filter,
  { limit, cursor }: Page,
) {
  const before = readCursor(cursor, NUMBER_CURSOR);
  const wanted = {
    projectId: project.projectId,
    before: before === null ? NUMBER_MAX : Number(before) - 1,
    limit: limit + 1,
  };
  const { status } = filter;
  const found = await queryFor(deps.db, filter).execute({ ...wanted, status });
  const { rows, next } = page(found, limit, (row) => String(row.number));
  // runs while the branches are listed
  const approvals = approvalsOf(
    deps.db,
    rows.map(({ crId }) => crId),
  );
  approvals.catch(() => {});
  const fresh = await refresh(deps, project, rows);
  const shown = await presentAll(deps, project, fresh.rows, fresh.listing, approvals);
  return { change_requests: shown, ...next };
}

/** A change request, with its current commits if it is open. */
export async function getChangeRequest(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<{ change_request: ChangeRequest }> {
  const row = await findChangeRequest(deps.db, project, name);
  const { rows, listing } = await refresh(deps, project, [row]);
  return { change_request: await present(deps, project, rows[0] ?? row, listing) };
}

/** The largest number that a change request can have. */
const NUMBER_MAX = 2 ** 31 - 1;

function queryFor(db: Db, { status, q = "", headRef, createdBy }: Filter) {
  const words = q.trim();
  const filters = [
    words === "" ? undefined : matches(words),
    headRef === undefined ? undefined : eq(changeRequests.headRef, headRef.replaceAll("\0", "")),
    createdBy === undefined ? undefined : eq(changeRequests.createdBy, createdBy),
  ];
  if (filters.every((filter) => filter === undefined)) return status === "all" ? allOf(db) : withStatus(db);
  return select(db, and(status === "all" ? undefined : hasStatus, ...filters));
}

/** Matches text in the title or a branch, or the number. */
function matches(q: string): SQL | undefined {
  const words = containing(q);
  const { title, headRef, baseRef, number } = changeRequests;
  const named = /^#?([1-9]\d{0,8})$/.exec(q)?.[1];
  return or(
    ilike(title, words),
    ilike(headRef, words),
    ilike(baseRef, words),
    named === undefined ? undefined : eq(number, Number(named)),
  );
}

const hasStatus = eq(changeRequests.status, sql.placeholder("status"));
const allOf = prepared((db) => select(db, undefined).prepare("change_requests"));
const withStatus = prepared((db) => select(db, hasStatus).prepare("change_requests_with_status"));

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
