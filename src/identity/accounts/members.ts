import { and, asc, eq, gt } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, links, ownSecretProjects, users } from "../../../db/schema/index.ts";
import type { Member, Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { updateSandboxes } from "../../jobs/update-sandboxes.ts";
import { audit } from "../auth/audit.ts";
import type { Caller } from "../auth/caller.ts";
import { lockAccount } from "./lock.ts";
import { allowOwners, resolveAccount, resolveManaged } from "./membership.ts";

/** The members of an account. @throws not_found, forbidden for non-members */
export async function listMembers(deps: Deps, caller: Caller, accountId: string, { limit, cursor }: Page) {
  await resolveAccount(deps.db, caller, accountId);
  const after = readCursor(cursor, UUID);
  const found = await membersOf(deps.db, accountId)
    .where(and(eq(accountMembers.accountId, accountId), after ? gt(accountMembers.userId, after) : undefined))
    .orderBy(asc(accountMembers.userId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => row.user_id);
  return { members: rows.map(toWire), ...next };
}

/**
 * Changes a member's role.
 * @throws not_found, forbidden (to members, and to admins about owners), last_owner
 */
export async function changeRole(
  deps: Deps,
  caller: Caller,
  accountId: string,
  userId: string,
  role: Role,
): Promise<Member> {
  return deps.db.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const { role: mine } = await resolveManaged(tx, caller, accountId);
    const theirs = await roleOf(tx, accountId, userId);
    allowOwners(mine, theirs, role);
    if (theirs === "owner" && role !== "owner") await keepAnOwner(tx, accountId);
    await tx.update(accountMembers).set({ role }).where(isMember(accountId, userId));
    if (role === "member") await endInvitations(tx, accountId, userId);
    const [row] = await membersOf(tx, accountId).where(isMember(accountId, userId));
    if (!row) throw noSuchMember(userId);
    const entry = { action: "member.role_changed", target: row.email, targetId: row.user_id } as const;
    await audit(tx, caller, { ...entry, accountId, details: { from: theirs, to: role } });
    return toWire(row);
  });
}

/**
 * Removes a member; members can also remove themselves. Their sessions go on, but their tokens lose access to the account,
 * and their sandboxes the secrets that they hold themselves.
 * @throws not_found, forbidden (to members about others, and to admins about owners), last_owner
 */
export async function removeMember(
  deps: Deps,
  caller: Caller,
  accountId: string,
  userId: string,
): Promise<{ ok: true }> {
  return deps.db.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    const isLeaving = userId.toLowerCase() === caller.userId;
    const { role: mine } = await (isLeaving ? resolveAccount : resolveManaged)(tx, caller, accountId);
    const theirs = await roleOf(tx, accountId, userId);
    allowOwners(mine, theirs);
    if (theirs === "owner") await keepAnOwner(tx, accountId);
    const [removed] = await membersOf(tx, accountId).where(isMember(accountId, userId));
    const projectIds = await projectsWithSecretsOf(tx, accountId, userId);
    await tx.delete(accountMembers).where(isMember(accountId, userId));
    await updateSandboxes(deps, tx, projectIds);
    await endInvitations(tx, accountId, userId);
    const entry = { action: "member.removed", target: removed?.email ?? "", targetId: userId } as const;
    await audit(tx, caller, { ...entry, accountId, details: { role: theirs } });
    return { ok: true };
  });
}

async function roleOf(tx: Db, accountId: string, userId: string): Promise<Role> {
  const [row] = await tx
    .select({ role: accountMembers.role })
    .from(accountMembers)
    .where(isMember(accountId, userId));
  if (!row) throw noSuchMember(userId);
  return row.role;
}

async function keepAnOwner(tx: Db, accountId: string): Promise<void> {
  const owners = await tx.$count(
    accountMembers,
    and(eq(accountMembers.accountId, accountId), eq(accountMembers.role, "owner")),
  );
  if (owners > 1) return;
  throw new SvcError("last_owner", "An account must have an owner. Make another member an owner first.");
}

/** Deletes the invitations of a member who may no longer invite, who could use them to rejoin. */
async function endInvitations(tx: Db, accountId: string, userId: string): Promise<void> {
  await tx.delete(links).where(and(eq(links.accountId, accountId), eq(links.createdBy, userId)));
}

/** The account's projects that get a secret which the member holds. With the membership, that ends. */
async function projectsWithSecretsOf(tx: Db, accountId: string, userId: string): Promise<string[]> {
  const of = ownSecretProjects;
  const rows = await tx
    .selectDistinct({ projectId: of.projectId })
    .from(of)
    .where(and(eq(of.accountId, accountId), eq(of.userId, userId)));
  return rows.map(({ projectId }) => projectId);
}

function membersOf(db: Db, accountId: string) {
  return db
    .select({
      user_id: users.userId,
      email: users.email,
      name: users.name,
      role: accountMembers.role,
      createdAt: accountMembers.createdAt,
    })
    .from(accountMembers)
    .innerJoin(users, and(eq(users.userId, accountMembers.userId), eq(accountMembers.accountId, accountId)));
}

function isMember(accountId: string, userId: string) {
  return and(eq(accountMembers.accountId, accountId), eq(accountMembers.userId, userId));
}

function toWire({ createdAt, ...rest }: Omit<Member, "created_at"> & { createdAt: Date }): Member {
  return { ...rest, created_at: createdAt.toISOString() };
}

function noSuchMember(userId: string): SvcError {
  return new SvcError(
    "not_found",
    `The account has no member ${userId}. Its members are on the page of the account.`,
  );
}
