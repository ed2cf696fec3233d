import type { Db } from "../../../../db/client.ts";
import type { CodeOwners } from "../../../contract/code-owners.ts";
import { shorten } from "../../../http/text.ts";
import { membersWith } from "../../../identity/accounts/named.ts";

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
  const members = await membersWith(db, accountId, words.map(keyOf));
  return (word) => {
    const wanted = keyOf(word);
    const found = word.startsWith("@")
      ? members.filter(({ name }) => name.toLowerCase() === wanted)
      : members.filter(({ email, emailProven }) => emailProven && email === wanted);
    const [one] = found;
    if (!one)
      return {
        problem: `Unknown owner "${shorten(word)}": no member of the account has this ${word.startsWith("@") ? "name" : "verified e-mail address"}.`,
      };
    if (found.length > 1)
      return {
        problem: `Ambiguous owner "${shorten(word)}": several members have this name. Use the e-mail address.`,
      };
    return { owner: { user_id: one.userId, name: one.name } };
  };
}

/** The members that owners name, each once. */
export function ownersIn(found: readonly Found[]): Owner[] {
  const owners = found.flatMap((one) => ("owner" in one ? [one.owner] : []));
  return [...new Map(owners.map((owner) => [owner.user_id, owner])).values()];
}

const keyOf = (word: string): string => word.replace(/^@/, "").toLowerCase();
