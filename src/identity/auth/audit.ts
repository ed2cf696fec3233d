import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import type { Actor } from "../../../db/schema/actor.ts";
import { accountMembers, auditEvents, users } from "../../../db/schema/index.ts";
import type { AuditAction } from "../../contract/audit.ts";
import { EVENTS_CHANNEL } from "../../events/publish.ts";
import { actorOf } from "./actor.ts";
import type { Caller, Origin, ProjectRow } from "./caller.ts";

/** Who did it, and from where. */
export interface AuditedBy {
  /** Null: svc itself, an operator on the server's machine, or somebody unknown. */
  userId: string | null;
  actor?: Actor | null;
  tokenId?: string | null;
  origin?: Origin;
}

/** What was done. */
export interface AuditEntry {
  action: AuditAction;
  /** What was changed, by its name. */
  target: string;
  targetId?: string | null;
  /** What it belongs to. Without a project or an account, the entry is seen in all accounts of the person. */
  project?: Pick<ProjectRow, "projectId" | "accountId">;
  accountId?: string;
  /** The person whose accounts see the entry, if that is not who acted. */
  userId?: string;
  /** What else a reader needs to know; never a secret. */
  details?: Readonly<Record<string, unknown>>;
}

/** Characters of a target, of which some come from strangers. */
const TARGET_MAX = 512;
/** Bytes of details: more than any action has, so that a fault does not fill the log. */
const DETAILS_MAX_BYTES = 16 * 1024;
/** The type of the notification, and the name in `changes`, that announce new entries. */
export const AUDIT_WAKER = "audit";

/**
 * Records an entry of the audit log, in the transaction of the change. It waits for no lock, so that it may come after
 * `publish`, too.
 */
export async function audit(tx: Db, by: Caller | AuditedBy, entry: AuditEntry): Promise<void> {
  const { userId, tokenId = null, origin } = by;
  const actor = "kind" in by ? actorOf(by) : (by.actor ?? null);
  const accountId = entry.project?.accountId ?? entry.accountId ?? null;
  await tx.execute(sql`
    insert into ${auditEvents} (account_ids, project_id, action, target, target_id, user_id, user_name, user_email,
      actor, token_id, address, request_id, details)
    select
      case when ${accountId}::uuid is not null then array[${accountId}::uuid] else array(
        select ${accountMembers.accountId} from ${accountMembers}
        where ${accountMembers.userId} = ${entry.userId ?? userId}::uuid order by 1
      ) end,
      ${entry.project?.projectId ?? null}::uuid, ${entry.action}, ${plain(entry.target.slice(0, TARGET_MAX))}, ${entry.targetId ?? null},
      ${userId}::uuid, who.name, who.email, ${actor === null ? null : JSON.stringify(actor)}::jsonb, ${tokenId}::uuid,
      ${origin?.address ?? null}, ${origin?.requestId ?? null}, ${detailsOf(entry)}::jsonb
    from (select) as one left join ${users} as who on who.user_id = ${userId}::uuid
    returning pg_notify(${EVENTS_CHANNEL}, ${JSON.stringify({ type: AUDIT_WAKER })})`);
}

/** A text without what Postgres cannot store: NUL and lone surrogates. */
export function plain(text: string): string {
  return text.replaceAll("\0", "\ufffd").toWellFormed();
}

function detailsOf({ details = {} }: AuditEntry): string {
  const text = JSON.stringify(details, (_, value: unknown) =>
    typeof value === "string" ? plain(value) : value,
  );
  return Buffer.byteLength(text) <= DETAILS_MAX_BYTES ? text : JSON.stringify({ truncated: true });
}
