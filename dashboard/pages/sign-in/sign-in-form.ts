import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { BrowserSession, SignedIn } from "../../../src/contract/sign-in.ts";
import { call } from "../../api/call.ts";
import { SIGNED_IN } from "../../api/signed-in.ts";
import { useForm } from "../../parts/form.tsx";

/**
 * A form that signs this browser in, then opens the next page.
 * @param next a page of the dashboard
 * @param link the token of a one-time link, which is sent with the fields
 */
export function useSignInForm<Fields extends Record<string, string>>(
  at: string,
  next: string,
  fields: Fields,
  link: { token?: string } = {},
) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  return useForm(fields, {
    send: (values) => call<SignedIn>("POST", at, { body: { ...link, ...values } }),
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
