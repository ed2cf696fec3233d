import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publicUrl } from "../../identity/auth/public-url.ts";

/** The host names of the server's own machine. */
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Rejects requests of browsers from other sites (MCP: Security Warning of the HTTP transport). The `Host` header decides
 * nothing: a site whose name resolves to this machine would choose it.
 * @param origin null for programs other than browsers
 * @throws forbidden
 */
export function requireKnownOrigin(deps: Pick<Deps, "config" | "api">, origin: string | null): void {
  if (origin === null) return;
  const from = URL.parse(origin);
  if (from !== null && (LOOPBACK.has(from.hostname) || from.origin === new URL(publicUrl(deps)).origin))
    return;
  const sentence =
    "The request comes from a page of another site. Call the MCP endpoint from a program, or set SVC_PUBLIC_URL to the address of the site.";
  throw new SvcError("forbidden", sentence);
}
