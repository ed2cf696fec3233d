import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Config } from "../../config.ts";
import type { Field } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";

/** The client behind a request. */
export interface Client {
  address: string;
  /** The scheme of the client's connection, as a trusted proxy reports it; null without one. */
  scheme: "http" | "https" | null;
}

/** The longest chain of proxies. */
const HOPS_MAX = 32;

/**
 * Finds the client of a request. A trusted proxy appends its peer's address, so the list is read from its end to the first
 * address that is not a trusted proxy: a client can forge everything before that.
 * @param peer the address at the other end of the connection
 */
export function clientOf(
  { trustedProxies }: Pick<Config, "trustedProxies">,
  { fields }: Pick<RequestHead, "fields">,
  peer: string,
): Client {
  const isTrusted = (address: string) => trustedProxies.length > 0 && isWithin(address, trustedProxies);
  if (!isTrusted(peer)) return { address: peer, scheme: null };
  let address = peer;
  for (const hop of hopsOf(fields)) {
    if (isIP(hop) === 0) break;
    address = hop;
    if (!isTrusted(hop)) break;
  }
  return { address, scheme: schemeOf(fields) };
}

/** The addresses of `X-Forwarded-For`, the nearest first, without ports. */
function hopsOf(fields: readonly Field[]): string[] {
  const lists = fields.filter(({ key }) => key === "x-forwarded-for").map(({ value }) => value.split(","));
  return lists
    .flat()
    .slice(-HOPS_MAX)
    .reverse()
    .map((hop) =>
      hop
        .trim()
        .replace(/^\[([^\]]*)\](?::\d+)?$/, "$1")
        .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1"),
    );
}

function schemeOf(fields: readonly Field[]): Client["scheme"] {
  const last = fields.findLast(({ key }) => key === "x-forwarded-proto");
  const said = last?.value.split(",").at(-1)?.trim().toLowerCase();
  return said === "http" || said === "https" ? said : null;
}

function isWithin(text: string, ranges: Config["trustedProxies"]): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  return ranges.some(([network, bits]) => {
    if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
    return network instanceof ipaddr.IPv6 && address.match(network, bits);
  });
}
