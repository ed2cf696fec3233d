import type { Db } from "../../../../db/client.ts";
import { SvcError } from "../../../contract/errors.ts";
import { shorten } from "../../../http/text.ts";
import { membersWith, nearestMember } from "../../../identity/accounts/named.ts";
import type { Caller } from "../../../identity/auth/caller.ts";

/** A member of the account of a project. */
export interface Person {
  userId: string;
  name: string;
}

/** Where a person is looked for, and who `@me` is. */
interface Scope {
  accountId: string;
  caller: Pick<Caller, "userId">;
}

/**
 * The members of an account that these words name: `@me` (or `me`), an id, an e-mail address or a name, also after an `@`.
 * @throws validation_failed for one that no member has, with the nearest name, and for a name of several
 */
export async function peopleNamed(
  db: Db,
  { accountId, caller }: Scope,
  words: readonly string[],
): Promise<Person[]> {
  const wanted = words.map((word) => ({ word, key: keyOf(word, caller) }));
  if (wanted.length === 0) return [];
  const keys = wanted.map(({ key }) => key);
  const members = await membersWith(db, accountId, keys);
  const found = new Map<string, Person>();
  for (const { word, key } of wanted) {
    const exact = members.filter(({ userId, email }) => userId === key || email === key);
    const named = exact.length > 0 ? exact : members.filter(({ name }) => name.toLowerCase() === key);
    const [person] = named;
    if (!person) throw await unknownPerson(db, accountId, word);
    if (named.length > 1)
      throw invalid(`Several members are called "${shorten(word)}". Use the e-mail address.`);
    found.set(person.userId, { userId: person.userId, name: person.name });
  }
  return [...found.values()];
}

function keyOf(word: string, { userId }: Pick<Caller, "userId">): string {
  const key = word.trim().replace(/^@/, "").toLowerCase();
  return key === "me" ? userId : key;
}

async function unknownPerson(db: Db, accountId: string, word: string): Promise<SvcError> {
  const near = await nearestMember(db, accountId, word.replace(/^@/, ""));
  const meant = near === undefined ? "" : ` Did you mean "${near}"?`;
  return invalid(
    `The account has no member "${shorten(word)}".${meant} A person is named by name, e-mail address or id, or by @me.`,
  );
}

const invalid = (message: string) => new SvcError("validation_failed", message);
