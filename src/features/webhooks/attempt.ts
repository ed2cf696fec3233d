import { HIDDEN_IN_TEXT } from "../../contract/hidden.ts";
import { WEBHOOK_RESPONSE_MAX_BYTES } from "../../contract/webhook.ts";
import type { Deps } from "../../deps.ts";
import { publicUrl } from "../../identity/auth/public-url.ts";
import { OutboundError, readStart } from "../../lib/outbound.ts";
import { readRetryAfter } from "../../lib/retry-after.ts";
import type { DeliveryRow, WebhookRow } from "./rows.ts";
import { secretPurpose, urlPurpose } from "./seal.ts";
import { signedHeaders } from "./signature.ts";
import { chatText } from "./text.ts";

/** The time of an attempt, with the answer. */
const ATTEMPT_MS = 15_000;
const GONE = 410;

/** The result of an attempt. */
export interface Outcome {
  isDelivered: boolean;
  statusCode: number | null;
  durationMs: number;
  /** The first bytes of the answer, without invisible characters. */
  response: string | null;
  error: string | null;
  /** Seconds for which the receiver wants no further attempt. */
  retryAfter: number;
  /** Why the webhook has to be disabled at once. */
  disable: string | null;
}

/**
 * Sends an event once. A failure is a result.
 * @throws OutboundError `aborted` when the signal is aborted
 */
export async function attempt(
  deps: Deps,
  { webhook, delivery, now }: { webhook: WebhookRow; delivery: DeliveryRow; now: Date },
  signal: AbortSignal,
): Promise<Outcome> {
  const failed = { isDelivered: false, statusCode: null, response: null, retryAfter: 0, disable: null };
  const opened = open(deps, webhook);
  if (!opened) return { ...failed, durationMs: 0, error: UNREADABLE, disable: UNREADABLE };
  const body =
    webhook.format === "text"
      ? JSON.stringify({ text: chatText(delivery.payload, publicUrl(deps)) })
      : delivery.payload;
  const started = performance.now();
  try {
    const response = await deps.outbound(opened.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "svc-webhooks",
        ...signedHeaders(opened.secret, { id: delivery.eventId, at: now, body }),
      },
      body,
      signal,
      limits: { firstByteMs: ATTEMPT_MS, totalMs: ATTEMPT_MS },
    });
    const start = await readStart(response, WEBHOOK_RESPONSE_MAX_BYTES);
    signal.throwIfAborted();
    const { status } = response;
    const isDelivered = status >= 200 && status <= 299;
    return {
      ...failed,
      isDelivered,
      statusCode: status,
      durationMs: since(started),
      response: shownBytes(start),
      error: isDelivered ? null : whyRefused(status),
      retryAfter: isDelivered ? 0 : readRetryAfter(response.headers.get("retry-after"), now),
      disable: status === GONE ? "Its receiver answered 410 Gone: it wants no more deliveries." : null,
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof OutboundError)) throw error;
    return { ...failed, durationMs: since(started), error: error.message };
  }
}

const UNREADABLE = "Its URL or secret cannot be decrypted. Set the URL again, and make a new secret.";

/** Null if they were sealed with another key. */
function open({ keys }: Deps, { projectId, webhookId, url, secret }: WebhookRow) {
  try {
    return {
      url: keys.open(projectId, urlPurpose(webhookId), url),
      secret: keys.open(projectId, secretPurpose(webhookId), secret),
    };
  } catch {
    return null;
  }
}

function whyRefused(status: number): string {
  if (status >= 300 && status <= 399)
    return `The receiver answered ${status}, a redirect, which is not followed. Set its final URL.`;
  return `The receiver answered ${status}, not 2xx.`;
}

function since(started: number): number {
  return Math.round(performance.now() - started);
}

function shownBytes(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replaceAll("\r\n", "\n").replace(HIDDEN_IN_TEXT, "\ufffd");
}
