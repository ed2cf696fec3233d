import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { users } from "../../db/schema/index.ts";
import { SvcError } from "../contract/errors.ts";
import { ensureUser } from "./ensure-user.ts";

/** NIST SP 800-63B: at least 8, no rules of composition; the upper bound keeps hashing cheap. */
const PASSWORD_MIN = 8;
const PASSWORD_MAX = 256;

/**
 * Sets the password by which a user signs in on the dashboard, making the user if there is none.
 * @throws validation_failed for a password or an address out of bounds.
 */
export async function setPassword(db: Db, email: string, password: string): Promise<{ created: boolean }> {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    throw new SvcError("validation_failed", `A password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`);
  }
  const passwordHash = await Bun.password.hash(password, "argon2id");
  const { userId, created } = await ensureUser(db, email);
  await db.update(users).set({ passwordHash, updatedAt: new Date() }).where(eq(users.userId, userId));
  return { created };
}
