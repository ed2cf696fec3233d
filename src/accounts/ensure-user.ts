import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { accountMembers, accounts, users } from "../../db/schema/index.ts";
import { SvcError } from "../contract/errors.ts";
import { slugCandidate, slugify } from "../slug.ts";

/** RFC 5321's limit on an address; the form is checked loosely, as only delivery could tell. */
const EMAIL = /^[^\s@\p{C}]{1,64}@[^\s@\p{C}]{1,189}$/u;

/**
 * Finds the user with this e-mail address, or makes the user and an account of their own.
 * @throws validation_failed for what is not an e-mail address.
 */
export async function ensureUser(db: Db, email: string): Promise<{ userId: string; created: boolean }> {
  const address = email.trim().toLowerCase();
  if (!EMAIL.test(address)) throw new SvcError("validation_failed", "That is not an e-mail address.");
  return db.transaction(async (tx) => {
    const name = address.slice(0, address.indexOf("@"));
    const [made] = await tx
      .insert(users)
      .values({ email: address, name })
      .onConflictDoNothing()
      .returning({ userId: users.userId });
    if (!made) {
      const [known] = await tx.select({ userId: users.userId }).from(users).where(eq(users.email, address));
      if (!known) throw new Error("a user was neither made nor found");
      return { userId: known.userId, created: false };
    }
    const accountId = await makeAccount(tx, name);
    await tx.insert(accountMembers).values({ accountId, userId: made.userId, role: "owner" });
    return { userId: made.userId, created: true };
  });
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
