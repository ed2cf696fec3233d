import { and, asc, eq, gt, inArray } from "drizzle-orm";
import { accountMembers, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { toWire } from "./wire.ts";

/**
 * The projects of the caller's accounts.
 * @throws forbidden for a project token (spec 5.2: it cannot list other projects) and for an account without membership.
 */
export async function listProjects(deps: Deps, caller: Caller, { limit, cursor }: Page, accountId?: string) {
  if (caller.kind !== "user")
    throw new SvcError(
      "forbidden",
      "A project token cannot list projects, because it is for one project. To show that project, run: svc projects info",
    );
  const after = readCursor(cursor, UUID);
  const memberships = await deps.db
    .select({ accountId: accountMembers.accountId })
    .from(accountMembers)
    .where(eq(accountMembers.userId, caller.userId));
  const mine = memberships.map((membership) => membership.accountId);
  if (accountId !== undefined && !mine.includes(accountId.toLowerCase())) {
    throw new SvcError(
      "forbidden",
      "You are not a member of the account that account_id names. List yours with: svc whoami",
    );
  }
  const accountIds = accountId === undefined ? mine : [accountId];
  const found = await deps.db
    .select()
    .from(projects)
    .where(and(inArray(projects.accountId, accountIds), after ? gt(projects.projectId, after) : undefined))
    .orderBy(asc(projects.projectId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => row.projectId);
  return { projects: rows.map((row) => toWire(deps, row)), ...next };
}
