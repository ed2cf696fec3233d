import { eq, lte, sql } from "drizzle-orm";
import ipaddr from "ipaddr.js";
import { attempts } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Lookup } from "./browser.ts";

/** A rate limit. */
export interface Limit {
  /** Limits with different names count separately. */
  name: string;
  max: number;
  windowS: number;
}

/** The prefix of an IPv6 address by which clients are counted, since one client can have the whole network. */
const NETWORK_BITS = 64;

/**
 * Counts an attempt, across all servers on the database.
 * @param by the key to limit: an address, or an address and its subject
 * @throws rate_limited past the limit, until its window ends
 */
export async function countAttempt(deps: Lookup, limit: Limit, by: string): Promise<void> {
  const now = deps.clock();
  const key = keyOf(deps, limit, by);
  const until = new Date(now.getTime() + limit.windowS * 1000);
  const isOver = lte(attempts.until, now);
  const [row] = await deps.db
    .insert(attempts)
    .values({ key, count: 1, until })
    .onConflictDoUpdate({
      target: attempts.key,
      set: {
        count: sql`case when ${isOver} then 1 else ${attempts.count} + 1 end`,
        until: sql`case when ${isOver} then excluded.until else ${attempts.until} end`,
      },
    })
    .returning({ count: attempts.count, until: attempts.until });
  if (!row || row.count <= limit.max) return;
  await deps.db.delete(attempts).where(lte(attempts.until, now));
  const seconds = Math.ceil((row.until.getTime() - now.getTime()) / 1000);
  throw new SvcError(
    "rate_limited",
    `Too many attempts. Try again in ${inWords(seconds)}.`,
    {},
    {
      "Retry-After": String(seconds),
      "X-RateLimit-Limit": String(limit.max),
      "X-RateLimit-Remaining": "0",
    },
  );
}

/** Resets the count, after a success. */
export async function forgetAttempts(deps: Lookup, limit: Limit, by: string): Promise<void> {
  await deps.db.delete(attempts).where(eq(attempts.key, keyOf(deps, limit, by)));
}

/** Decrements the count. */
export async function forgetAttempt(deps: Lookup, limit: Limit, by: string): Promise<void> {
  await deps.db
    .update(attempts)
    .set({ count: sql`greatest(${attempts.count} - 1, 0)` })
    .where(eq(attempts.key, keyOf(deps, limit, by)));
}

/** The client address to count by, from the header that only the listener sets; a network for IPv6. */
export function addressOf(request: Request): string {
  const text = request.headers.get("x-forwarded-for") ?? "";
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${NETWORK_BITS}`).toString();
}

function keyOf({ keys }: Pick<Lookup, "keys">, { name }: Limit, by: string): string {
  return keys.mac("attempts", `${name} ${by}`).toString("base64url");
}

function inWords(seconds: number): string {
  if (seconds > 90) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? "a second" : `${seconds} seconds`;
}
