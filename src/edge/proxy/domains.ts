import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { type AtDomain, findAtDomain } from "../../features/apps/domains/find.ts";
import { domainOfHost } from "../../features/apps/domains/name.ts";
import { createCache } from "../../lib/cache.ts";
import type { Decision } from "../../splice/connection.ts";
import type { RequestHead } from "../../splice/head.ts";
import { CACHE_MAX, CACHE_MS } from "./admission.ts";
import type { Apps } from "./apps.ts";
import type { Client } from "./client.ts";

/** Requests at the domains of public apps. */
export interface Domains {
  /** The domain that a request may be for, by its host; null: certainly none. */
  domainOf(head: RequestHead): string | null;
  /**
   * Passes a request to the app at a domain.
   * @param elsewhere decides if no account has proved the domain: it may be another name of the server
   * @throws not_found, or rejects with it, if the domain is proven, and no public app is served there
   */
  visit(
    head: RequestHead,
    client: Client,
    domain: string,
    elsewhere: () => Decision | Promise<Decision>,
  ): Promise<Decision>;
  /** Whether `visit` has found an app for the request. */
  isOfApp(head: RequestHead): boolean;
}

export function createDomains(deps: Deps, apps: Apps): Domains {
  const lookUp = createCache<{ found: AtDomain | null }>({ keepMs: CACHE_MS, max: CACHE_MAX }, () => true);
  const ofApps = new WeakSet<RequestHead>();

  return {
    domainOf: (head) => (deps.config.publicApps ? domainOfHost(deps, head.host) : null),
    isOfApp: (head) => ofApps.has(head),
    async visit(head, client, domain, elsewhere) {
      const { found } = await lookUp(domain, async () => ({ found: await findAtDomain(deps, domain) }));
      if (found === null) return await elsewhere();
      ofApps.add(head);
      if (found.isServed) return await apps(head, client, { label: found.label, domain });
      throw new SvcError("not_found", `No app is served at ${domain}.`);
    },
  };
}
