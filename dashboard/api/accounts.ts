import type { Me } from "../../src/contract/account.ts";
import { useGet } from "./get.ts";

export const ME = ["me"];

/** The signed-in user and their accounts, the oldest membership first. */
export function useMe() {
  return useGet<Me>(ME, "/accounts/me", { staleTime: 60_000 });
}
