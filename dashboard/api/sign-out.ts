import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./call.ts";

/** Ends what this browser is signed in as. @param next the page to load then */
export function useSignOut(next: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => call("POST", "/auth/sign-out"),
    // nothing of this person's may be seen by the next
    onSettled: () => {
      queries.clear();
      window.location.assign(next);
    },
  });
}
