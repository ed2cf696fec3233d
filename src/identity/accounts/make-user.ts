import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, accounts, users } from "../../../db/schema/index.ts";
import type { Role } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { slugCandidate, slugify } from "../../lib/slug.ts";

/** RFC 5321's limit on an address; the form is checked loosely, as only delivery could tell. */
const EMAIL = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,189}$/u;

interface NewUser {
  email: string;
  /** Null: what stands before the @. */
  name?: string | null;
  passwordHash?: string;
  githubId?: string;
  /** False: nobody but they say that the address is theirs. */
  emailProven?: boolean;
  /** The account that they come to; without one they have their own. */
  joins?: Membership;
}

interface Membership {
  accountId: string;
  role: Role;
}

/** @throws validation_failed for what is not an e-mail address. */
export function readEmail(text: string): string {
  const address = text.trim().toLowerCase();
  if (!EMAIL.test(address)) throw new SvcError("validation_failed", "The e-mail address is not valid.");
  return address;
}

/**
 * Finds the user with this e-mail address, or makes the user and an account of their own.
 * @throws validation_failed for what is not an e-mail address.
 */
export async function ensureUser(db: Db, email: string): Promise<{ userId: string; created: boolean }> {
  const address = readEmail(email);
  const made = await makeUser(db, { email: address });
  if (made !== null) return { userId: made, created: true };
  const [known] = await db.select({ userId: users.userId }).from(users).where(eq(users.email, address));
  if (!known) throw new Error("a user was neither made nor found");
  return { userId: known.userId, created: false };
}

/**
 * Makes a user, as a member of one account.
 * @param wanted its e-mail address as `readEmail` gives it
 * @returns the user's id; null when there is one with this address already
 */
export async function makeUser(db: Db, wanted: NewUser): Promise<string | null> {
  const { joins, ...rest } = wanted;
  const name = wanted.name?.trim() || wanted.email.slice(0, wanted.email.indexOf("@"));
  return db.transaction(async (tx) => {
    const [made] = await tx
      .insert(users)
      .values({ ...rest, name })
      .onConflictDoNothing()
      .returning({ userId: users.userId });
    if (!made) return null;
    const { userId } = made;
    const membership = joins ?? { accountId: await makeAccount(tx, name), role: "owner" as const };
    await tx.insert(accountMembers).values({ ...membership, userId });
    return userId;
  });
}

/** Makes a user a member; one who is a member already keeps the role. */
export async function joinAccount(db: Db, userId: string, membership: Membership): Promise<void> {
  await db
    .insert(accountMembers)
    .values({ ...membership, userId })
    .onConflictDoNothing();
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
