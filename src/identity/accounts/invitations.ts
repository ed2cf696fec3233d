import { and, asc, eq, gt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, links, users } from "../../../db/schema/index.ts";
import type { Invitation, InviteBody, MadeInvitation } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { type AuditEntry, audit } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";
import { publicUrl } from "../auth/public-url.ts";
import { type LinkRow, makeLink } from "./links.ts";
import { readEmail } from "./make-user.ts";
import { allowOwners, resolveManaged } from "./membership.ts";

const LIFE_MS = 7 * 24 * 60 * 60_000;
/** Open invitations of one account. */
const OPEN_MAX = 200;

/** The open invitations. @throws not_found, forbidden to all but owners and admins */
export async function listInvitations(
  deps: Deps,
  caller: Caller,
  accountId: string,
  { limit, cursor }: Page,
) {
  await resolveManaged(deps.db, caller, accountId);
  const after = readCursor(cursor, UUID);
  const found = await deps.db
    .select()
    .from(links)
    .where(and(isOpen(deps, accountId), after ? gt(links.linkId, after) : undefined))
    .orderBy(asc(links.linkId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => row.linkId);
  return { invitations: rows.map(toWire), ...next };
}

/**
 * Creates a link by which one person can join an account: the user with the given address, or anybody with the link.
 * @throws not_found, forbidden (to members, and to admins about owners), validation_failed, rate_limited
 */
export async function invite(
  deps: Deps,
  caller: Caller,
  accountId: string,
  wanted: InviteBody,
): Promise<MadeInvitation> {
  const { role: mine } = await resolveManaged(deps.db, caller, accountId);
  allowOwners(mine, wanted.role);
  const email = wanted.email === undefined ? null : readEmail(wanted.email);
  if (email !== null && (await isMember(deps.db, accountId, email))) {
    throw new SvcError("validation_failed", `${email} is already a member of this account.`);
  }
  if ((await deps.db.$count(links, isOpen(deps, accountId))) >= OPEN_MAX) {
    const sentence = `The account has ${OPEN_MAX} open invitations. Withdraw some first.`;
    throw new SvcError("rate_limited", sentence, {}, { "Retry-After": "3600" });
  }
  return await deps.db.transaction(async (tx) => {
    const { url, row } = await makeLink(tx, deps.keys, publicUrl(deps), {
      kind: "invitation",
      accountId,
      role: wanted.role,
      email,
      createdBy: caller.userId,
      expiresAt: new Date(deps.clock().getTime() + LIFE_MS),
    });
    await audit(tx, caller, entryOf("invitation.created", accountId, row));
    return { ...toWire(row), url };
  });
}

/** Withdraws an invitation. @throws not_found, forbidden to all but owners and admins */
export async function withdrawInvitation(
  deps: Deps,
  caller: Caller,
  accountId: string,
  invitationId: string,
): Promise<{ ok: true }> {
  await resolveManaged(deps.db, caller, accountId);
  return await deps.db.transaction(async (tx) => {
    const [gone] = await tx
      .delete(links)
      .where(and(isOpen(deps, accountId), eq(links.linkId, invitationId)))
      .returning();
    if (!gone)
      throw new SvcError(
        "not_found",
        `The account has no open invitation ${invitationId}. It was used, withdrawn, or has expired.`,
      );
    await audit(tx, caller, entryOf("invitation.withdrawn", accountId, gone));
    return { ok: true };
  });
}

function entryOf(
  action: "invitation.created" | "invitation.withdrawn",
  accountId: string,
  { email, linkId, role }: LinkRow,
): AuditEntry {
  const target = email ?? "anyone with the link";
  return { action, target, targetId: linkId, accountId, details: { role } };
}

function isOpen(deps: Deps, accountId: string) {
  return and(eq(links.accountId, accountId), eq(links.kind, "invitation"), gt(links.expiresAt, deps.clock()));
}

async function isMember(db: Db, accountId: string, email: string): Promise<boolean> {
  const found = await db
    .select({ userId: users.userId })
    .from(users)
    .innerJoin(accountMembers, eq(accountMembers.userId, users.userId))
    .where(and(eq(users.email, email), eq(accountMembers.accountId, accountId)));
  return found.length > 0;
}

function toWire(row: LinkRow): Invitation {
  return {
    invitation_id: row.linkId,
    email: row.email,
    role: row.role ?? "member",
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
  };
}
