import type { Inbox } from "../../src/contract/inbox.ts";
import { useGet } from "./get.ts";
import { useShown } from "./shown.ts";

/** Events are of one project each, and this is of all. */
const POLL_MS = 10_000;

/** What waits for the signed-in user, and their sessions. */
export function useInbox() {
  const isShown = useShown();
  return useGet<Inbox>(["inbox"], "/accounts/inbox", { refetchInterval: isShown && POLL_MS });
}
