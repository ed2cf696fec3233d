import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, accounts, users } from "../../../db/schema/index.ts";
import type { Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { slugCandidate, slugify } from "../../lib/slug.ts";

/** RFC 5321's limit on an address; the form is checked loosely, since only delivery can verify it. */
const EMAIL = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,189}$/u;

interface NewUser {
  email: string;
  /** Null: the part before the @. */
  name?: string | null;
  passwordHash?: string;
  githubId?: string;
  /** False: the address is not verified. */
  emailProven?: boolean;
  /** Whether the caller is the operator, who makes the first user of a server an operator in it. */
  byOperator?: true;
  /** The account to join; without one the user gets their own. */
  joins?: Membership;
}

interface Membership {
  accountId: string;
  role: Role;
}

/** @throws validation_failed */
export function readEmail(text: string): string {
  const address = text.trim().toLowerCase();
  if (!EMAIL.test(address)) throw new SvcError("validation_failed", "The e-mail address is not valid.");
  return address;
}

/**
 * Finds the user with this e-mail address, or creates the user with their own account, for the operator: the first user of
 * a server becomes an operator.
 * @throws validation_failed for an invalid address.
 */
export async function ensureUser(db: Db, email: string): Promise<{ userId: string; created: boolean }> {
  const address = readEmail(email);
  const made = await makeUser(db, { email: address, byOperator: true });
  if (made !== null) return { userId: made, created: true };
  const [known] = await db.select({ userId: users.userId }).from(users).where(eq(users.email, address));
  if (!known) throw new Error("a user was neither created nor found");
  return { userId: known.userId, created: false };
}

/**
 * Creates a user, as a member of one account.
 * @param wanted with an e-mail address as returned by `readEmail`
 * @returns the user's id; null when a user with this address already exists
 */
export async function makeUser(db: Db, wanted: NewUser): Promise<string | null> {
  const { joins, byOperator, ...rest } = wanted;
  const name = wanted.name?.trim() || wanted.email.slice(0, wanted.email.indexOf("@"));
  return db.transaction(async (tx) => {
    const [made] = await tx
      .insert(users)
      .values({ ...rest, name, ...(byOperator && { isOperator: IS_FIRST }) })
      .onConflictDoNothing()
      .returning({ userId: users.userId });
    if (!made) return null;
    const { userId } = made;
    const membership = joins ?? { accountId: await makeAccount(tx, name), role: "owner" as const };
    await tx.insert(accountMembers).values({ ...membership, userId });
    return userId;
  });
}

const IS_FIRST = sql<boolean>`not exists (select 1 from ${users})`;

/** Makes a user a member; an existing member keeps their role. @returns whether the user was no member */
export async function joinAccount(db: Db, userId: string, membership: Membership): Promise<boolean> {
  const added = await db
    .insert(accountMembers)
    .values({ ...membership, userId })
    .onConflictDoNothing()
    .returning({ userId: accountMembers.userId });
  return added.length > 0;
}

async function makeAccount(tx: Db, name: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const slug = slugCandidate(slugify(name, "account"), attempt);
    const [account] = await tx
      .insert(accounts)
      .values({ name, slug })
      .onConflictDoNothing()
      .returning({ accountId: accounts.accountId });
    if (account) return account.accountId;
  }
}
