import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { accountMembers, users } from "../../../../db/schema/index.ts";
import type { CodeOwners } from "../../../contract/code-owners.ts";
import { shorten } from "../../../http/text.ts";

export type Owner = CodeOwners["files"][number]["owners"][number];

/** The member that a word names, or why there is none. */
type Found = { owner: Owner } | { problem: string };

/**
 * Finds the members of an account that owners of a CODEOWNERS file name. An address counts only if it is verified, and a
 * name only if one member has it: members choose both themselves.
 */
export async function membersNamed(
  db: Db,
  accountId: string,
  words: readonly string[],
): Promise<(word: string) => Found> {
  const keys = JSON.stringify([...new Set(words.map(keyOf))]);
  const key = sql`(select value from json_array_elements_text(${keys}::json))`;
  const members = await db
    .select({ user_id: users.userId, name: users.name, email: users.email, proven: users.emailProven })
    .from(accountMembers)
    .innerJoin(users, eq(users.userId, accountMembers.userId))
    .where(
      and(
        eq(accountMembers.accountId, accountId),
        sql`(${users.email} in ${key} or lower(${users.name}) in ${key})`,
      ),
    );
  return (word) => {
    const wanted = keyOf(word);
    const found = word.startsWith("@")
      ? members.filter(({ name }) => name.toLowerCase() === wanted)
      : members.filter(({ email, proven }) => proven && email === wanted);
    const [one] = found;
    if (!one)
      return {
        problem: `Unknown owner "${shorten(word)}": no member of the account has this ${word.startsWith("@") ? "name" : "verified e-mail address"}.`,
      };
    if (found.length > 1)
      return {
        problem: `Ambiguous owner "${shorten(word)}": several members have this name. Use the e-mail address.`,
      };
    return { owner: { user_id: one.user_id, name: one.name } };
  };
}

/** Postgres cannot hold NUL. */
const keyOf = (word: string): string =>
  word.replace(/^@/, "").replaceAll("\0", "\ufffd").toWellFormed().toLowerCase();
