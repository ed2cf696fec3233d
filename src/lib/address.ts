import { lookup } from "node:dns/promises";
import ipaddr from "ipaddr.js";

/** Loopback by definition (RFC 6761, section 6.3): not resolved, since resolvers answer differently. */
const LOCALHOST = /(?:^|\.)localhost\.?$/i;

export function isLocalhost(host: string): boolean {
  return LOCALHOST.test(host);
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

/** The same addresses, IPv4 first, as curl and ssh take them. */
export function ipv4First(addresses: readonly string[]): string[] {
  const isV6 = (address: string) => Number(address.includes(":"));
  return addresses.toSorted((a, b) => isV6(a) - isV6(b));
}

/** The metadata service of Azure, at an address that looks public. */
const AZURE_METADATA = "168.63.129.16";
const GLOBAL_UNICAST_V6 = ipaddr.parseCIDR("2000::/3");
