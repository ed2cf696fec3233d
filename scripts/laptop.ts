import { hostOf, isLoopback } from "../src/contract/proxy.ts";

/**
 * Settings of `npm start` for a server that only this machine reaches: it may use repositories in the user's folders and
 * network (docs/decisions/private-repositories-on-a-laptop.md). A setting of the operator's has precedence.
 */
export function laptopSettings(env: Record<string, string | undefined>): Record<string, string> {
  if (env["SVC_ALLOW_PRIVATE_REPOS"] !== undefined) return {};
  const { SVC_HOST: host, SVC_PUBLIC_URL: url } = env;
  const isLocal = (!host || isLoopback(host)) && (!url || (URL.canParse(url) && isLoopback(hostOf(url))));
  return isLocal ? { SVC_ALLOW_PRIVATE_REPOS: "1" } : {};
}
