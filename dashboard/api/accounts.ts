import { useQuery } from "@tanstack/react-query";
import type { Me } from "../../src/contract/account.ts";
import { call } from "./call.ts";

export const ME = ["me"];

/** The reader, and the accounts that they are a member of, the oldest membership first. */
export function useMe() {
  return useQuery({
    queryKey: ME,
    queryFn: ({ signal }) => call<Me>("GET", "/accounts/me", { signal }),
    staleTime: 60_000,
  });
}
