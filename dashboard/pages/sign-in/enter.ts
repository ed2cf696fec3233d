import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { BrowserSession, SignedIn } from "../../../src/contract/sign-in.ts";
import { call } from "../../api/call.ts";
import { SIGNED_IN } from "../../api/signed-in.ts";

/**
 * Sends a form whose answer signs this browser in, and goes on then.
 * @param next a page of the dashboard
 */
export function useEnter<Body>(at: string, next: string) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) => call<SignedIn>("POST", at, { body }),
    onSuccess: (user) => {
      // together, so that no page is shown to who is not in yet, nor a link that was just used up
      queries.setQueryData<BrowserSession>(
        SIGNED_IN,
        (before) => before && { ...before, signed_in: true, first_user: false, user },
      );
      go(next, { replace: true });
      // what was seen here before may have been another person's
      queries.removeQueries({ predicate: ({ queryKey: [first] }) => first !== SIGNED_IN[0] });
    },
  });
}
