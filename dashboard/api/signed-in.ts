import { useQuery } from "@tanstack/react-query";
import type { BrowserSession } from "../../src/contract/sign-in.ts";
import { call } from "./call.ts";

export const SIGNED_IN = ["signed-in"];

/** The user who is signed in on this browser. */
export function useSignedIn() {
  return useQuery({
    queryKey: SIGNED_IN,
    queryFn: ({ signal }) => call<BrowserSession>("GET", "/auth/session", { signal }),
    staleTime: 60_000,
  });
}
