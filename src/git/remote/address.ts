import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";
import { SvcError } from "../../contract/errors.ts";
import { within } from "../../lib/within.ts";

/** Loopback by definition (RFC 6761, section 6.3): not resolved, since resolvers answer differently. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;
/** The most addresses of a host that are used. */
const ADDRESSES_MAX = 8;

/**
 * The addresses of a host on the public internet. A host with any address that is not public is refused: its DNS could
 * otherwise choose between them.
 * @returns IPv4 first, as curl and ssh take them, without brackets
 * @throws SvcError `repo_not_allowed`, or `repo_unreachable` when the host has no address
 */
export async function publicAddresses(
  host: string,
  resolve: (host: string) => Promise<string[]>,
  timeoutMs: number,
): Promise<string[]> {
  if (LOCALHOST.test(host)) throw notPublic(host);
  const addresses = ipaddr.isValid(host) ? [host] : await inTime(resolve(host), host, timeoutMs);
  if (addresses.length === 0) throw unresolved(host);
  for (const address of addresses) {
    if (!isPublic(address)) throw notPublic(host);
  }
  const isV6 = (address: string) => Number(address.includes(":"));
  return addresses.toSorted((a, b) => isV6(a) - isV6(b)).slice(0, ADDRESSES_MAX);
}

/** Whether an address is on the public internet. IPv6 with embedded IPv4 (mapped, NAT64, 6to4, Teredo) is not. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes("%")) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== "unicast") return false;
  if (parsed.kind() === "ipv4")
    return ipaddr.IPv4.isValidFourPartDecimal(address) && address !== AZURE_METADATA;
  // all of the public IPv6 internet is in 2000::/3 (IANA)
  return parsed.match(GLOBAL_UNICAST_V6);
}

/** Resolves a host with the system's resolver, as curl and ssh do. */
export async function resolveHost(host: string): Promise<string[]> {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map((answer) => answer.address);
}

/** The metadata service of Azure, at an address that looks public. */
const AZURE_METADATA = "168.63.129.16";
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR("2000::/3");

async function inTime(answer: Promise<string[]>, host: string, timeoutMs: number): Promise<string[]> {
  try {
    return await within(answer, timeoutMs, () => unresolved(host));
  } catch {
    throw unresolved(host);
  }
}

function notPublic(host: string): SvcError {
  return new SvcError(
    "repo_not_allowed",
    `The repository's host ${host} has a private or reserved address, which is not allowed on this server. To allow it, its operator sets SVC_ALLOW_PRIVATE_REPOS=1.`,
  );
}

function unresolved(host: string): SvcError {
  return new SvcError(
    "repo_unreachable",
    `The repository's host ${host} could not be found. Check its spelling, and the server's DNS.`,
  );
}
