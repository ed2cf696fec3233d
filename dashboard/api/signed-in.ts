import type { BrowserSession } from "../../src/contract/sign-in.ts";
import { useGet } from "./get.ts";

export const SIGNED_IN = ["signed-in"];

/** The user who is signed in on this browser. */
export function useSignedIn() {
  return useGet<BrowserSession>(SIGNED_IN, "/auth/session", { staleTime: 60_000 });
}
