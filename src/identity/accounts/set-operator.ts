import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { users } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { readEmail } from "./make-user.ts";

/**
 * Makes an existing user an operator, who manages the server's own settings, or revokes that.
 * @throws validation_failed for an invalid address, not_found
 */
export async function setOperator(db: Db, email: string, isOperator: boolean): Promise<void> {
  const address = readEmail(email);
  const [user] = await db
    .update(users)
    .set({ isOperator, updatedAt: new Date() })
    .where(eq(users.email, address))
    .returning({ userId: users.userId });
  if (user) return;
  throw new SvcError(
    "not_found",
    `No user has the e-mail address ${address}. Create one with: svc-api admin link --email ${address}`,
  );
}
