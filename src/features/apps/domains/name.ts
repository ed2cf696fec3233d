import { isIP } from "node:net";
import { parse } from "tldts";
import { DOMAIN_MAX } from "../../../contract/app-domain.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import { shorten } from "../../../http/text.ts";
import { previewSite } from "../site.ts";

/** Labels of letters, digits and hyphens (RFC 1123, 2.1), at least two. */
const NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What a name must not have, although `URL` would take it as the end of a host, or decode it. */
const NOT_OF_A_NAME = /[\p{Cc}\s/\\:@?#%[\]*]/u;

/**
 * Reads the name of a domain that an app may have, and normalizes it: in lower case, in ASCII, without a dot at its end.
 * @throws validation_failed for wildcards, addresses, public suffixes and the server's own host names
 */
export function readDomain(deps: Pick<Deps, "config" | "api">, text: string): string {
  const domain = normalize(text);
  if (domain === null)
    throw invalid(
      text,
      "is not a domain name. Give one without a scheme, port or wildcard, such as www.example.com.",
    );
  if (!isPublicName(domain))
    throw invalid(
      text,
      "is not below a public suffix. Give a name that is registered, such as www.example.com.",
    );
  if (isOwnName(deps, domain)) throw invalid(text, "belongs to this server. Give a domain of your own.");
  return domain;
}

/** The name in a Host header, if an app could have it as its domain; null for all others. */
export function domainOfHost(deps: Pick<Deps, "config" | "api">, host: string): string | null {
  const domain = normalize(host.replace(/:\d{1,5}$/, ""));
  return domain !== null && isPublicName(domain) && !isOwnName(deps, domain) ? domain : null;
}

function normalize(text: string): string | null {
  if (NOT_OF_A_NAME.test(text)) return null;
  const name = URL.parse(`http://${text}/`)?.hostname.replace(/\.$/, "") ?? "";
  return name.length <= DOMAIN_MAX && NAME.test(name) && isIP(name) === 0 ? name : null;
}

/** Whether somebody can have registered a name: it is below a suffix of publicsuffix.org, and is not one. */
function isPublicName(name: string): boolean {
  const { domain, isIcann, isPrivate } = parse(name, { allowPrivateDomains: true });
  return domain !== null && (isIcann === true || isPrivate === true);
}

/** Whether a name is one of the server's, or below it. */
function isOwnName(deps: Pick<Deps, "config" | "api">, name: string): boolean {
  const { publicUrl, sandboxApiUrl } = deps.config;
  const urls = [
    publicUrl,
    `http://${previewSite(deps).host}`,
    ...(sandboxApiUrl === null ? [] : [sandboxApiUrl]),
  ];
  return urls
    .map((url) => URL.parse(url)?.hostname.replace(/\.$/, ""))
    .some((own) => own !== undefined && (name === own || name.endsWith(`.${own}`)));
}

function invalid(text: string, what: string): SvcError {
  return new SvcError("validation_failed", `"${shorten(text)}" ${what}`);
}
