import { useQuery } from "@tanstack/react-query";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import { call } from "./call.ts";
import { path } from "./path.ts";
import { useSignedIn } from "./signed-in.ts";

/** Names do not change from one minute to the next. */
const FRESH_MS = 5 * 60_000;

/** What the members of an account are called, by their ids; "you" is the reader. Who is not known is "somebody". */
export function usePeople(accountId: string): (userId: string) => string {
  const { data: own } = useSignedIn();
  const { data } = useQuery({
    queryKey: ["members", accountId],
    queryFn: ({ signal }) => call<unknown>("GET", path`/accounts/${accountId}/members`, { signal }),
    staleTime: FRESH_MS,
    retry: false,
  });
  const names = new Map(
    arrayOf(field(data, "members")).map((member) => [
      textField(member, "user_id"),
      textField(member, "name") || textField(member, "email"),
    ]),
  );
  return (userId) => (userId === own?.user?.user_id ? "you" : names.get(userId) || "somebody");
}
