import { createHmac, timingSafeEqual } from "node:crypto";
import { SLACK_BODY_MAX_BYTES } from "../../../contract/channel.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { readBounded, refuseLarger } from "../../../http/body.ts";

/** How old a request may be: Slack's recommendation (Verifying requests from Slack). */
const WINDOW_S = 5 * 60;

/** A request whose headers have the form of a signature, and are recent. Whether it is signed depends on the app. */
export interface SlackRequest {
  body: string;
  /** Compares in constant time. */
  isSignedWith(signingSecret: string): boolean;
}

/**
 * Reads a request of Slack. The body is read only if the headers can be those of Slack.
 * @throws payload_too_large, unauthorized
 */
export async function readSlackRequest(deps: Pick<Deps, "clock">, request: Request): Promise<SlackRequest> {
  refuseLarger(request, SLACK_BODY_MAX_BYTES);
  const timestamp = request.headers.get("x-slack-request-timestamp") ?? "";
  const [, hex] = /^v0=([0-9a-f]{64})$/.exec(request.headers.get("x-slack-signature") ?? "") ?? [];
  if (hex === undefined || !/^\d{1,12}$/.test(timestamp)) throw unsigned();
  const age = deps.clock().getTime() / 1000 - Number(timestamp);
  if (Math.abs(age) > WINDOW_S)
    throw new SvcError(
      "unauthorized",
      `The request is more than ${WINDOW_S / 60} minutes old, or this server's clock is wrong.`,
    );
  const bytes = await readBounded(request, SLACK_BODY_MAX_BYTES);
  const given = Buffer.from(hex, "hex");
  return {
    body: new TextDecoder().decode(bytes),
    isSignedWith(signingSecret) {
      const mac = createHmac("sha256", signingSecret).update(`v0:${timestamp}:`).update(bytes).digest();
      return timingSafeEqual(mac, given);
    },
  };
}

/** The same for a missing signature, a wrong one, and an unknown workspace. */
export function unsigned(): SvcError {
  return new SvcError(
    "unauthorized",
    "The signature is missing or wrong, or the workspace is not connected. Connect it with: svc channels connect slack",
  );
}
