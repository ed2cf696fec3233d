import { signedPath, type UserContext, verifyUserContext } from "../src/contract/user-context.ts";
import type { Answer } from "../src/splice/answer.ts";
import { fieldOf, isGivenTwice } from "../src/splice/fields.ts";
import type { RequestHead } from "../src/splice/head.ts";
import { errorResponse } from "./responses.ts";
import type { Settings } from "./settings.ts";

/** The header by which the API says who asks (contract: Sessions, sandboxes, proxy), in lower case. */
export const CONTEXT_HEADER = "x-svc-user-context";

/** Contexts that are remembered: far more than there are callers within a minute. */
const CACHED_MAX = 1000;

/** Who asks, or the answer to somebody who does not say so as it must be said. */
export type Identify = (head: RequestHead) => { context: UserContext } | { answer: Answer };

/**
 * Checks who asks, and that it was signed for this very method and path. A header that was checked is remembered until it
 * expires: requests for one path carry the same, and the check is most of the cost of a small one.
 */
export function createIdentify({ token, sessionId }: Pick<Settings, "token" | "sessionId">): Identify {
  const known = new Map<string, UserContext>();
  return (head) => {
    const value = fieldOf(head.fields, CONTEXT_HEADER) ?? "";
    if (isGivenTwice(head.fields, CONTEXT_HEADER))
      return {
        answer: errorResponse(head, "validation_failed", "X-Svc-User-Context stands there more than once."),
      };
    const now = Date.now() / 1000;
    const before = known.get(value);
    const isKnown = before !== undefined && now < before.exp;
    const context = isKnown || value === "" ? before : verifyUserContext(token, value, sessionId, now);
    if (!context || context.method !== head.method || context.path !== signedPath(head.target)) {
      const message =
        "Only svc's API is let in here: X-Svc-User-Context is missing, expired, or not signed for this request.";
      return {
        answer: errorResponse(head, "unauthorized", message, { headers: { "WWW-Authenticate": "Bearer" } }),
      };
    }
    if (!isKnown) {
      if (known.size >= CACHED_MAX) known.clear();
      known.set(value, context);
    }
    return { context };
  };
}
