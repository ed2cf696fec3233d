import type { Db } from "../../../../db/client.ts";
import { SvcError } from "../../../contract/errors.ts";
import { UUID } from "../../../contract/id.ts";
import type { Term } from "../../../contract/search/parse.ts";
import { QUALIFIERS, type QualifierName, type Takes } from "../../../contract/search/qualifiers.ts";
import { shorten } from "../../../http/text.ts";
import { membersWith, nearestMember } from "../../../identity/accounts/named.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";

/**
 * The users that the terms of a search name, by the terms' values: `@me` (of an agent, its user), the id of a user, or the name or
 * e-mail address of members of the account.
 * @throws validation_failed
 */
export async function peopleOf(
  db: Db,
  { accountId }: ProjectRow,
  { userId: me }: Pick<Caller, "userId">,
  terms: readonly Term[],
): Promise<Map<string, readonly string[]>> {
  const wanted = terms.flatMap(({ name, value }) =>
    name !== "text" && takesPerson(name) ? [{ name, value }] : [],
  );
  const members = await membersWith(
    db,
    accountId,
    wanted.map(({ value }) => keyOf(value)),
  );
  const people = new Map<string, readonly string[]>();
  for (const { name, value } of wanted) {
    const key = keyOf(value);
    const named = members.filter((member) => member.email === key || member.name.toLowerCase() === key);
    if (value.toLowerCase() === "@me") people.set(value, [me]);
    else if (UUID.test(value)) people.set(value, [value.toLowerCase()]);
    else if (named.length === 0) throw await noSuchMember(db, accountId, name, value);
    else
      people.set(
        value,
        named.map(({ userId }) => userId),
      );
  }
  return people;
}

function takesPerson(name: QualifierName): boolean {
  const { kind }: Takes = QUALIFIERS[name].takes;
  return kind === "person";
}

const keyOf = (value: string): string => value.replace(/^@/, "").toLowerCase();

async function noSuchMember(
  db: Db,
  accountId: string,
  qualifier: QualifierName,
  value: string,
): Promise<SvcError> {
  const near = await nearestMember(db, accountId, value.replace(/^@/, ""));
  const meant = near
    ? `Did you mean ${qualifier}:${/\s/.test(near) ? `"${near}"` : near}?`
    : `Write ${qualifier}:@me, or the name or e-mail address of a member of the account.`;
  return new SvcError("validation_failed", `\`${qualifier}:${shorten(value)}\` names no member. ${meant}`);
}
