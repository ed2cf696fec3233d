import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { changeRequests, mergeIntents } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ProjectEvent } from "../../contract/event.ts";
import { UUID } from "../../contract/id.ts";
import type { ProjectChange } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

/** A row of a change request, and whether it has a recorded merge that is not yet settled. */
export type CrRow = typeof changeRequests.$inferSelect & {
  hasIntents: boolean;
  /** It is open, and its commits could not be updated from the repository. */
  stale?: boolean;
};

/** The columns of every read. */
export const crColumns = {
  ...getTableColumns(changeRequests),
  hasIntents: sql<boolean>`exists (select 1 from ${mergeIntents} where ${mergeIntents.crId} = ${changeRequests.crId})`,
};

const NUMBER = /^[1-9]\d{0,8}$/;

/**
 * Finds a change request of a project by its id or its number.
 * @throws validation_failed for any other text, not_found.
 */
export async function findChangeRequest(db: Db, project: ProjectRow, name: string): Promise<CrRow> {
  const { projectId } = project;
  const [row] = UUID.test(name)
    ? await byId(db).execute({ projectId, name: name.toLowerCase() })
    : await byNumber(db).execute({ projectId, name: numberOf(name) });
  if (!row)
    throw new SvcError(
      "not_found",
      `${project.name} has no change request ${UUID.test(name) ? name : `#${name}`}. List all with: svc cr ls --status all`,
    );
  return row;
}

/** The event for a change request. */
export function changeOf(
  { crId, number }: Pick<CrRow, "crId" | "number">,
  action: ProjectEvent["action"] = "changed",
): ProjectChange {
  return { type: "change_request", id: crId, number, action };
}

const byId = prepared((db) => select(db, changeRequests.crId).prepare("change_request_by_id"));
const byNumber = prepared((db) => select(db, changeRequests.number).prepare("change_request_by_number"));

function select(db: Db, column: typeof changeRequests.crId | typeof changeRequests.number) {
  return db
    .select(crColumns)
    .from(changeRequests)
    .where(
      and(eq(changeRequests.projectId, sql.placeholder("projectId")), eq(column, sql.placeholder("name"))),
    );
}

function numberOf(name: string): number {
  if (NUMBER.test(name)) return Number(name);
  throw new SvcError(
    "validation_failed",
    "A change request must be named by its number or its id (a UUID). List all with: svc cr ls --status all",
  );
}
