import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { BrowserSession, SignedIn } from "../../../src/contract/sign-in.ts";
import { call } from "../../api/call.ts";
import { SIGNED_IN } from "../../api/signed-in.ts";

/**
 * Sends a form that signs this browser in, then opens the next page.
 * @param next a page of the dashboard
 */
export function useSignInForm<Body>(at: string, next: string) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) => call<SignedIn>("POST", at, { body }),
    onSuccess: (user) => {
      // in the same update, so that neither a page without a user nor a used link is rendered
      queries.setQueryData<BrowserSession>(
        SIGNED_IN,
        (before) => before && { ...before, signed_in: true, first_user: false, user },
      );
      go(next, { replace: true });
      // cached data may belong to another user
      queries.removeQueries({ predicate: ({ queryKey: [first] }) => first !== SIGNED_IN[0] });
    },
  });
}
