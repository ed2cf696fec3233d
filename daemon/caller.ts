import { signedPath, type UserContext, verifyUserContext } from "../src/contract/user-context.ts";
import type { Answer } from "../src/splice/answer.ts";
import { fieldOf, isGivenTwice } from "../src/splice/fields.ts";
import type { RequestHead } from "../src/splice/head.ts";
import { errorResponse } from "./responses.ts";
import type { Settings } from "./settings.ts";

/** The header in which the API identifies the caller (contract: Sessions, sandboxes, proxy), in lower case. */
export const CONTEXT_HEADER = "x-svc-user-context";

/** Contexts that are cached: far more than the callers within a minute. */
const CACHED_MAX = 1000;

/** Authenticates a request: returns its caller's context, or the error response. */
export type Identify = (head: RequestHead) => { context: UserContext } | { answer: Answer };

/**
 * Verifies the header, which is signed for one method and path. A verified header is cached until it expires: requests for
 * one path have the same header, and the verification is most of the cost of a small request.
 */
export function createIdentify({ token, sessionId }: Pick<Settings, "token" | "sessionId">): Identify {
  const known = new Map<string, UserContext>();
  return (head) => {
    const value = fieldOf(head.fields, CONTEXT_HEADER) ?? "";
    if (isGivenTwice(head.fields, CONTEXT_HEADER))
      return { answer: errorResponse(head, "validation_failed", "X-Svc-User-Context must be sent once.") };
    const now = Date.now() / 1000;
    const before = known.get(value);
    const isKnown = before !== undefined && now < before.exp;
    const context = isKnown || value === "" ? before : verifyUserContext(token, value, sessionId, now);
    if (!context || context.method !== head.method || context.path !== signedPath(head.target)) {
      const message =
        "Only svc's API has access: X-Svc-User-Context is missing, expired, or not signed for this request.";
      const headers = { "WWW-Authenticate": "Bearer" };
      return { answer: errorResponse(head, "unauthorized", message, { headers }) };
    }
    if (!isKnown) {
      if (known.size >= CACHED_MAX) known.clear();
      known.set(value, context);
    }
    return { context };
  };
}
