import { and, desc, eq, lt } from "drizzle-orm";
import { changeRequests } from "../../db/schema/index.ts";
import type { ProjectRow } from "../auth/caller.ts";
import type { ChangeRequest, CrStatusFilter } from "../contract/change-request.ts";
import type { Deps } from "../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../http/page.ts";
import { refresh } from "./refresh.ts";
import { crColumns, findChangeRequest, toWire } from "./row.ts";

/** A project's change requests, the newest first, with the commits of the open ones as they are now. */
export async function listChangeRequests(
  deps: Deps,
  project: ProjectRow,
  status: CrStatusFilter,
  { limit, cursor }: Page,
) {
  const before = readCursor(cursor, NUMBER_CURSOR);
  const found = await deps.db
    .select(crColumns)
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, project.projectId),
        status === "all" ? undefined : eq(changeRequests.status, status),
        before === null ? undefined : lt(changeRequests.number, Number(before)),
      ),
    )
    .orderBy(desc(changeRequests.number))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => String(row.number));
  const fresh = await refresh(deps, project, rows);
  return { change_requests: fresh.map(toWire), ...next };
}

/** One change request, with its commits as they are now if it is open. */
export async function getChangeRequest(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<{ change_request: ChangeRequest }> {
  const row = await findChangeRequest(deps.db, project, name);
  const [fresh] = await refresh(deps, project, [row]);
  return { change_request: toWire(fresh ?? row) };
}
