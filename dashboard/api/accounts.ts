import { useQuery } from "@tanstack/react-query";
import type { Me } from "../../src/contract/account.ts";
import { call } from "./call.ts";

export const ME = ["me"];

/** The signed-in user and their accounts, the oldest membership first. */
export function useMe() {
  return useQuery({
    queryKey: ME,
    queryFn: ({ signal }) => call<Me>("GET", "/accounts/me", { signal }),
    staleTime: 60_000,
  });
}
