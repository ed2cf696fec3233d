import { useList } from "./list.ts";
import { path } from "./path.ts";
import { useSignedIn } from "./signed-in.ts";

/** The fields of a member that are used here. */
interface Named {
  user_id: string;
  name: string;
  email: string;
}

/** The members of an account, page by page. */
export function useMembers(accountId: string) {
  const key = ["accounts", accountId, "members"];
  return useList<Named>(key, path`/accounts/${accountId}/members`, "members");
}

/** Names by user id: of the members of an account and of the signed-in user. */
export function useNames(accountId: string): ReadonlyMap<string, string> {
  const { data: signedIn } = useSignedIn();
  const { rows } = useMembers(accountId);
  const me = signedIn?.user;
  const named = me ? [me, ...rows] : rows;
  return new Map(named.map(({ user_id, name, email }) => [user_id, name || email]));
}
