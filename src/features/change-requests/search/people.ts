import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { accountMembers, users } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { UUID } from "../../../contract/id.ts";
import { nearest } from "../../../contract/nearest.ts";
import type { Term } from "../../../contract/search/parse.ts";
import { QUALIFIERS, type Takes } from "../../../contract/search/qualifiers.ts";
import { shorten } from "../../../http/text.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";

/** Members whose names are compared with a mistyped one. */
const COMPARED_MAX = 1000;

/**
 * The users that the terms of a search name, by the terms' values: `@me` (of an agent, its user), the id of a user, or the name or
 * email address of members of the account.
 * @throws validation_failed
 */
export async function peopleOf(
  db: Db,
  { accountId }: ProjectRow,
  { userId: me }: Pick<Caller, "userId">,
  terms: readonly Term[],
): Promise<Map<string, readonly string[]>> {
  const people = new Map<string, readonly string[]>();
  for (const { name, value } of terms) {
    if (name === "text" || people.has(value)) continue;
    const takes: Takes = QUALIFIERS[name].takes;
    if (takes.kind !== "person") continue;
    if (value.toLowerCase() === "@me") people.set(value, [me]);
    else if (UUID.test(value)) people.set(value, [value.toLowerCase()]);
    else people.set(value, await membersNamed(db, accountId, name, value));
  }
  return people;
}

async function membersNamed(
  db: Db,
  accountId: string,
  qualifier: string,
  wanted: string,
): Promise<readonly string[]> {
  const isMember = and(eq(accountMembers.userId, users.userId), eq(accountMembers.accountId, accountId));
  const text = wanted.replace(/^@/, "");
  const found = await db
    .select({ userId: users.userId })
    .from(users)
    .innerJoin(accountMembers, isMember)
    .where(sql`${users.email} = lower(${text}) or lower(${users.name}) = lower(${text})`)
    .limit(COMPARED_MAX);
  if (found.length > 0) return found.map(({ userId }) => userId);
  const members = await db
    .select({ name: users.name })
    .from(users)
    .innerJoin(accountMembers, isMember)
    .limit(COMPARED_MAX);
  const near = nearest(
    text,
    members.map(({ name }) => name),
  );
  const meant = near
    ? `Did you mean ${qualifier}:${/\s/.test(near) ? `"${near}"` : near}?`
    : `Write ${qualifier}:@me, or the name or email address of a member of the account.`;
  throw new SvcError("validation_failed", `\`${qualifier}:${shorten(wanted)}\` names no member. ${meant}`);
}
