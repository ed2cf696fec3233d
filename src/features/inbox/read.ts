import { INBOX_REASONS, type Inbox, type InboxItem } from "../../contract/inbox.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { ownChangeRequests } from "./own.ts";
import { changeRequestsToReview, requestedReviews } from "./reviews.ts";
import { ownSessions } from "./sessions.ts";

/**
 * What waits for the caller in the projects of their accounts, and their sessions. All of it is stored: no repository is
 * read, and the number of queries does not depend on the number of projects.
 */
export async function readInbox(deps: Deps, { userId }: Caller): Promise<Inbox> {
  const [own, requested, reviews, sessions] = await Promise.all([
    ownChangeRequests(deps, userId),
    requestedReviews(deps, userId),
    changeRequestsToReview(deps, userId),
    ownSessions(deps, userId),
  ]);
  const asked = new Set(requested.items.map(({ url }) => url));
  const others = reviews.items.filter(({ url }) => !asked.has(url));
  return {
    items: [...own.items, ...requested.items, ...others, ...sessions.items].sort(byUrgency),
    sessions: sessions.board,
    truncated: own.truncated || requested.truncated || reviews.truncated || sessions.truncated,
  };
}

function byUrgency(one: InboxItem, other: InboxItem): number {
  const rank = ({ reason }: InboxItem) => INBOX_REASONS.indexOf(reason);
  return rank(one) - rank(other) || other.since.localeCompare(one.since);
}
