import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { accountMembers, users } from "../../../db/schema/index.ts";
import { nearest } from "../../contract/nearest.ts";

/** A member of an account, by what can name them. Members choose their names themselves, so several can have the same. */
export interface NamedMember {
  userId: string;
  name: string;
  email: string;
  /** Whether the address was verified. */
  emailProven: boolean;
}

/** Members whose names are compared with one that nobody has. */
const COMPARED_MAX = 1_000;

/** The members of an account whose id, e-mail address or name is one of these keys, which are in lower case. */
export async function membersWith(
  db: Db,
  accountId: string,
  keys: readonly string[],
): Promise<NamedMember[]> {
  if (keys.length === 0) return [];
  // Postgres holds no NUL, and no lone surrogate
  const wanted = [...new Set(keys.map((key) => key.replaceAll("\0", "\ufffd").toWellFormed()))];
  // a file of owners may have more names than a query may have parameters
  const isOne = sql`in (select value from json_array_elements_text(${JSON.stringify(wanted)}::json))`;
  const { userId, name, email, emailProven } = users;
  return await db
    .select({ userId, name, email, emailProven })
    .from(accountMembers)
    .innerJoin(users, eq(userId, accountMembers.userId))
    .where(
      and(
        eq(accountMembers.accountId, accountId),
        sql`(${userId}::text ${isOne} or ${email} ${isOne} or lower(${name}) ${isOne})`,
      ),
    );
}

/** The name of a member that is most like this one, if any is. */
export async function nearestMember(db: Db, accountId: string, text: string): Promise<string | undefined> {
  const members = await db
    .select({ name: users.name })
    .from(accountMembers)
    .innerJoin(users, eq(users.userId, accountMembers.userId))
    .where(eq(accountMembers.accountId, accountId))
    .limit(COMPARED_MAX);
  return nearest(
    text,
    members.map(({ name }) => name),
  );
}
