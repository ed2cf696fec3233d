import { eq, lte, sql } from "drizzle-orm";
import ipaddr from "ipaddr.js";
import { attempts } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Lookup } from "./browser.ts";

/** Something that may be tried only so often by one and the same. */
export interface Limit {
  /** What is tried: limits of different names count apart. */
  name: string;
  max: number;
  windowS: number;
}

/** Of an IPv6 address so many bits are its network's: whoever has one has all addresses below it. */
const NETWORK_BITS = 64;

/**
 * Counts an attempt, for all servers on one database together.
 * @param by whoever is to be held back: an address, or an address and what it asks about
 * @throws rate_limited past the limit, until its window is over
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

/** Takes the counted attempts back: they were the right one's. */
export async function forgetAttempts(deps: Lookup, limit: Limit, by: string): Promise<void> {
  await deps.db.delete(attempts).where(eq(attempts.key, keyOf(deps, limit, by)));
}

/** Takes one of them back. */
export async function forgetAttempt(deps: Lookup, limit: Limit, by: string): Promise<void> {
  await deps.db
    .update(attempts)
    .set({ count: sql`greatest(${attempts.count} - 1, 0)` })
    .where(eq(attempts.key, keyOf(deps, limit, by)));
}

/** The address that a request came from, as far as one and the same is known by it: the listener alone says it. */
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
