import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { browserSessions, users } from "../../../db/schema/index.ts";
import { ensureUser } from "../accounts/make-user.ts";
import { hashPassword } from "./password.ts";

/**
 * Sets a user's password, and creates the user if needed. Signs out all browsers of the user.
 * @throws validation_failed for a password or an address out of bounds.
 */
export async function setPassword(db: Db, email: string, password: string): Promise<{ created: boolean }> {
  const passwordHash = await hashPassword(password);
  const { userId, created } = await ensureUser(db, email);
  await storePassword(db, userId, passwordHash);
  return { created };
}

/** Stores a password's hash and ends all browser sessions of the user, both or neither. */
export async function storePassword(db: Db, userId: string, passwordHash: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.update(users).set({ passwordHash, updatedAt: new Date() }).where(eq(users.userId, userId));
    await tx.delete(browserSessions).where(eq(browserSessions.userId, userId));
  });
}
