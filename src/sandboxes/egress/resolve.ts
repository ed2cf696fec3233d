import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { within } from "../../lib/within.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";

/** For a name to be resolved. */
const RESOLVE_MS = 10_000;

/** All addresses of a host. */
export type Resolve = (host: string) => Promise<string[]>;

/**
 * Resolves a host once. Whoever connects must connect to the result: another resolution could have another result.
 * @returns an address on the public internet; `closed` if one of its addresses is not; null without an address
 */
export async function publicAddress(host: string, resolve: Resolve): Promise<string | null> {
  const found = await addressesOf(host, resolve);
  // IPv6 is closed with every provider; hosts that have both are reached by IPv4
  const addresses = found.filter((address) => ipaddr.IPv4.isValidFourPartDecimal(address));
  if (found.length > 0 && addresses.length === 0) return "closed";
  return addresses.some(isClosed) ? "closed" : (addresses[0] ?? null);
}

/** The addresses of a host, which is one itself or a name. @throws when it cannot be resolved in time */
export async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  if (ipaddr.isValid(host)) return [host];
  return await within(resolve(host), RESOLVE_MS, () => new Error("not resolved in time"));
}

/** Resolves with the resolver of this machine. */
export async function resolveHost(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Whether an IPv4 address is closed to sandboxes, or this machine's own. */
function isClosed(address: string): boolean {
  const parsed = ipaddr.IPv4.parse(address);
  if (CLOSED_IPV4.some((range) => parsed.match(ipaddr.IPv4.parseCIDR(range)))) return true;
  return Object.values(networkInterfaces()).some((own) => own?.some((entry) => entry.address === address));
}
