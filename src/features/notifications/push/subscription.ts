import type { pushBrowsers } from "../../../../db/schema/index.ts";
import { field, parseJson, textField } from "../../../contract/json.ts";
import type { AddPushBrowserBody } from "../../../contract/notification.ts";
import type { Keys } from "../../../keys.ts";
import type { BrowserKeys } from "./encrypt.ts";

export type BrowserRow = typeof pushBrowsers.$inferSelect;

/** Where a browser is reached, and with which keys. */
export interface Subscription {
  endpoint: string;
  keys: BrowserKeys;
}

export function sealSubscription(
  keys: Pick<Keys, "seal">,
  { userId, browserId }: Pick<BrowserRow, "userId" | "browserId">,
  { endpoint, keys: { p256dh, auth } }: AddPushBrowserBody,
): string {
  return keys.seal(userId, purposeOf(browserId), JSON.stringify({ endpoint, keys: { p256dh, auth } }));
}

/** Null if it was sealed with another key. */
export function openSubscription(
  keys: Pick<Keys, "open">,
  { userId, browserId, subscription }: Pick<BrowserRow, "userId" | "browserId" | "subscription">,
): Subscription | null {
  try {
    const opened = parseJson(keys.open(userId, purposeOf(browserId), subscription));
    const key = (name: string) => Buffer.from(textField(field(opened, "keys"), name), "base64url");
    return { endpoint: textField(opened, "endpoint"), keys: { p256dh: key("p256dh"), auth: key("auth") } };
  } catch {
    return null;
  }
}

const purposeOf = (browserId: string) => `push browser ${browserId}`;
