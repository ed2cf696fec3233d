import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
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
    mutationFn: (body: Body) => call("POST", at, { body }),
    onSuccess: async () => {
      // what was seen here before may have been another person's
      queries.removeQueries({ predicate: ({ queryKey: [first] }) => first !== SIGNED_IN[0] });
      await queries.invalidateQueries({ queryKey: SIGNED_IN });
      go(next, { replace: true });
    },
  });
}
