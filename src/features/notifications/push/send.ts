import type { Deps } from "../../../deps.ts";
import { publicUrl } from "../../../identity/auth/public-url.ts";
import { OutboundError } from "../../../lib/outbound.ts";
import { readRetryAfter } from "../../../lib/retry-after.ts";
import type { Message } from "../message.ts";
import type { Outcome } from "../outcome.ts";
import { encrypt } from "./encrypt.ts";
import { type BrowserRow, openSubscription } from "./subscription.ts";
import { vapidHeader } from "./vapid.ts";

/** How long a push service keeps a message for a browser that is not running: then it is no news. */
const TTL_S = 6 * 3_600;
const ATTEMPT_MS = 15_000;
/** Answers that a later attempt may not get: too early, too many requests. The 5xx are the others. */
const TRANSIENT = [408, 425, 429];
/** The subscription no longer exists (RFC 8030, 7.3). */
const GONE = [404, 410];

/**
 * Sends a message to a browser once (RFC 8030). A failure is a result.
 * @throws OutboundError `aborted` when the signal is aborted
 */
export async function sendPush(
  deps: Deps,
  browser: BrowserRow,
  { message, now }: { message: Message; now: Date },
  signal: AbortSignal,
): Promise<Outcome> {
  const subscription = openSubscription(deps.keys, browser);
  if (!subscription) return { kind: "gone" };
  try {
    const endpoint = new URL(subscription.endpoint);
    const { id: tag, title, text: body, path: url } = message;
    const response = await deps.outbound(endpoint, {
      method: "POST",
      headers: {
        authorization: vapidHeader(deps.keys, { endpoint, now, site: publicUrl(deps) }),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(TTL_S),
        urgency: "high",
      },
      body: encrypt(JSON.stringify({ tag, title, body, url }), subscription.keys),
      signal,
      limits: { firstByteMs: ATTEMPT_MS, totalMs: ATTEMPT_MS },
    });
    await response.body?.cancel();
    return outcomeOf(response, now);
  } catch (error) {
    if (signal.aborted || !(error instanceof OutboundError)) throw error;
    const isRefused = error.reason === "not_allowed" || error.reason === "invalid_url";
    return { kind: isRefused ? "failed" : "later", error: error.message, afterS: 0 };
  }
}

function outcomeOf({ status, headers }: Response, now: Date): Outcome {
  if (status >= 200 && status <= 299) return { kind: "sent" };
  if (GONE.includes(status)) return { kind: "gone" };
  const isTransient = status >= 500 || TRANSIENT.includes(status);
  const error = `The browser's push service answered ${status}.`;
  return {
    kind: isTransient ? "later" : "failed",
    error,
    afterS: readRetryAfter(headers.get("retry-after"), now),
  };
}
