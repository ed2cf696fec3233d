import { getDomain } from "tldts";
import { ConfigError, type Environment, flag } from "./values.ts";

const ALLOW = "SVC_ALLOW_SHARED_PREVIEW_DOMAIN";

/**
 * Refuses a preview host below the registrable domain of the server itself: an app in a preview could set cookies for
 * that whole domain (RFC 6265, 5.3), which browsers then send to svc, and requests from it would count as same-site.
 * Names without a registrable domain (`localhost`, addresses) cannot have such cookies.
 * @throws ConfigError
 */
export function requireOwnPreviewDomain(
  env: Environment,
  publicUrl: string,
  previewHost: string | null,
): void {
  if (flag(env, ALLOW) || previewHost === null) return;
  const domain = registrableDomain(new URL(publicUrl).hostname);
  if (domain === null || domain !== registrableDomain(previewHost)) return;
  throw new ConfigError(
    `SVC_PREVIEW_HOST (${previewHost}) and SVC_PUBLIC_URL (${publicUrl}) are both on ${domain}, so an app in a preview could set cookies for svc. Use a separate domain for previews, or accept that with ${ALLOW}=1.`,
  );
}

/** The domain that cookies can be set for: one label more than a public suffix (publicsuffix.org). */
function registrableDomain(host: string): string | null {
  const name = host.replace(/:\d+$/, "").replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) return null;
  return getDomain(name, { allowPrivateDomains: true });
}
