import { and, arrayContains, desc, eq, gte, like, lt, or, type SQL, sql } from "drizzle-orm";
import { auditEvents } from "../../../db/schema/index.ts";
import type { AuditEvent } from "../../contract/audit.ts";
import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { resolveManaged } from "../accounts/membership.ts";
import { plain } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";
import type { AuditRow } from "./chain.ts";

/** What is wanted of the log, as in the query of its route. */
export interface AuditFilter {
  actor?: string;
  action?: string;
  target?: string;
  since?: string;
  until?: string;
}

const ID_CURSOR = /^[1-9]\d{0,14}$/;

/** The entries of an account's audit log, newest first. @throws not_found, forbidden to all but owners and admins */
export async function listAudit(
  deps: Deps,
  caller: Caller,
  accountId: string,
  filter: AuditFilter,
  { limit, cursor }: Page,
): Promise<{ audit_events: AuditEvent[]; next_cursor?: string }> {
  await resolveManaged(deps.db, caller, accountId);
  const before = readCursor(cursor, ID_CURSOR);
  const found = await deps.db
    .select()
    .from(auditEvents)
    .where(
      and(
        arrayContains(auditEvents.accountIds, [accountId]),
        before === null ? undefined : lt(auditEvents.auditId, Number(before)),
        ...conditionsOf(filter),
      ),
    )
    .orderBy(desc(auditEvents.auditId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, ({ auditId }) => String(auditId));
  return { audit_events: rows.map(toWire), ...next };
}

function conditionsOf({ actor, action, target, since, until }: AuditFilter): (SQL | undefined)[] {
  return [
    actor === undefined ? undefined : isBy(plain(actor)),
    action === undefined ? undefined : isAction(action),
    target === undefined
      ? undefined
      : or(eq(auditEvents.target, plain(target)), eq(auditEvents.targetId, plain(target))),
    since === undefined ? undefined : gte(auditEvents.createdAt, new Date(since)),
    until === undefined ? undefined : lt(auditEvents.createdAt, new Date(until)),
  ];
}

function isBy(actor: string): SQL | undefined {
  const { userId, tokenId, userEmail, actor: recorded } = auditEvents;
  if (UUID.test(actor))
    return or(eq(userId, actor), eq(tokenId, actor), sql`${recorded}->>'sessionId' = ${actor.toLowerCase()}`);
  return eq(userEmail, actor.toLowerCase());
}

function isAction(action: string): SQL {
  const noun = action.endsWith(".*") ? action.slice(0, -2) : action;
  // a noun has no character but letters and _, which is escaped
  if (noun !== action || !action.includes("."))
    return like(auditEvents.action, `${noun.replaceAll("_", "\\_")}.%`);
  return eq(auditEvents.action, action);
}

/** An entry as the API shows it. */
export function toWire(row: AuditRow): AuditEvent {
  return {
    id: row.auditId,
    created_at: row.createdAt.toISOString(),
    action: row.action,
    actor: actorOf(row),
    target: row.target,
    target_id: row.targetId,
    project_id: row.projectId,
    address: row.address,
    request_id: row.requestId,
    details: row.details,
    position: row.position,
    hash: row.hash,
  };
}

function actorOf({ userId, userName, userEmail, actor, tokenId }: AuditRow): AuditEvent["actor"] {
  if (userId === null) return null;
  return {
    user_id: userId,
    name: userName ?? "",
    email: userEmail ?? "",
    kind: actor?.kind ?? "user",
    session_id: actor?.kind === "agent" ? actor.sessionId : null,
    token_id: tokenId,
    token_name: actor?.kind === "token" ? actor.name : null,
  };
}
