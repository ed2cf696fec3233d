import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { PASSWORD_MAX, PASSWORD_MIN } from "../../contract/limits.ts";
import type { SignedIn } from "../../contract/sign-in.ts";

/** Verified for unknown users, so that they take as long as a wrong password. */
let dummyHash: Promise<string> | null = null;

/** @throws validation_failed for a password out of bounds. */
export async function hashPassword(password: string): Promise<string> {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    throw new SvcError(
      "validation_failed",
      `A password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`,
    );
  }
  return Bun.password.hash(password, "argon2id");
}

/** Bun verifies passwords in a thread pool, one per core; more wait there without using memory. */
export async function findByPassword(db: Db, email: string, password: string): Promise<SignedIn | null> {
  const [user] = await db
    .select({ user_id: users.userId, email: users.email, name: users.name, hash: users.passwordHash })
    .from(users)
    .where(eq(users.email, email));
  dummyHash ??= Bun.password.hash(crypto.randomUUID(), "argon2id");
  const isRight = await Bun.password.verify(password, user?.hash ?? (await dummyHash));
  if (!user?.hash || !isRight) return null;
  return { user_id: user.user_id, email: user.email, name: user.name };
}
