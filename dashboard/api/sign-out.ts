import { useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./call.ts";
import { canPush, unsubscribe } from "./push.ts";

/** Signs this browser out. @param next the page to load afterwards */
export function useSignOut(next: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      // the next user of this browser must not get what is pushed to this one
      if (canPush()) await unsubscribe().catch(() => {});
      return await call("POST", "/auth/sign-out");
    },
    // the next user of this browser must not see cached data
    onSettled: () => {
      queries.clear();
      window.location.assign(next);
    },
  });
}
