import ipaddr from "ipaddr.js";
import { SvcError } from "../../contract/errors.ts";
import { ipv4First, isLocalhost, isPublic } from "../../lib/address.ts";
import { within } from "../../lib/within.ts";
import { SOON } from "../run/failure.ts";

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
  if (isLocalhost(host)) throw notPublic(host);
  const addresses = ipaddr.isValid(host) ? [host] : await inTime(resolve(host), host, timeoutMs);
  if (addresses.length === 0) throw unresolved(host, false);
  for (const address of addresses) {
    if (!isPublic(address)) throw notPublic(host);
  }
  return ipv4First(addresses).slice(0, ADDRESSES_MAX);
}

async function inTime(answer: Promise<string[]>, host: string, timeoutMs: number): Promise<string[]> {
  try {
    return await within(answer, timeoutMs, () => new Error("the resolver did not answer"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    throw unresolved(host, code !== "ENOTFOUND" && code !== "ENODATA");
  }
}

function notPublic(host: string): SvcError {
  return new SvcError(
    "repo_not_allowed",
    `The repository's host ${host} has a private or reserved address, which is not allowed on this server. To allow it, its operator sets SVC_ALLOW_PRIVATE_REPOS=1.`,
  );
}

/** @param isTransient whether the resolver has failed; else the name does not exist */
function unresolved(host: string, isTransient: boolean): SvcError {
  return new SvcError(
    "repo_unreachable",
    `The repository's host ${host} could not be found. Check its spelling, and the server's DNS.`,
    {},
    isTransient ? SOON : {},
  );
}
