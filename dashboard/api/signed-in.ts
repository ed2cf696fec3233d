import { useQuery } from "@tanstack/react-query";
import { call } from "./call.ts";

/** Answer of `GET /v1/auth/session`. */
export interface SignedIn {
  signed_in: boolean;
  user?: { user_id: string; email: string; name: string };
  sign_up: "open" | "invited";
  github: boolean;
  /** Nobody can sign in with a password yet. */
  first_user: boolean;
}

export const SIGNED_IN = ["signed-in"];

/** Who is signed in on this browser. */
export function useSignedIn() {
  return useQuery({
    queryKey: SIGNED_IN,
    queryFn: ({ signal }) => call<SignedIn>("GET", "/auth/session", { signal }),
    staleTime: 60_000,
  });
}
