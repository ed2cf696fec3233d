import type { Deps } from "../../deps.ts";
import { publicUrl } from "../../identity/auth/public-url.ts";

/** A host name or address with an optional port (RFC 3986, 3.2.2), without the characters that the RFC calls sub-delims. */
const HOST = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/**
 * The URL of this server for the client of a request: SVC_PUBLIC_URL, else by the host that the client used, which reaches the
 * server from there. Anything that is not a host falls back to the server's own address.
 * @param host of the request, as the listener forwards it
 */
export function originFor(deps: Pick<Deps, "config" | "api">, host: string | undefined): string {
  const isKnown = deps.config.publicUrlSource === "setting";
  return isKnown || host === undefined || !HOST.test(host) ? publicUrl(deps) : `http://${host}`;
}
