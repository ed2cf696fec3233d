import { SvcError } from "../../contract/errors.ts";
import { fieldOf } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Rejects requests from other sites, since browsers send the cookie with them: requests that change something, WebSockets
 * (to which CORS does not apply) and subresources. Links to the preview are allowed. `SameSite` alone would allow requests
 * from other subdomains, each of which serves another app.
 * @throws forbidden
 */
export function refuseCrossSite(head: RequestHead): void {
  const origin = fieldOf(head.fields, "origin");
  const site = fieldOf(head.fields, "sec-fetch-site");
  const isSafe = SAFE.has(head.method) && head.upgrade === null;
  const isLink = isSafe && fieldOf(head.fields, "sec-fetch-mode") === "navigate";
  const isOwnSite = site === undefined || site === "same-origin" || site === "none";
  if (isSafe ? isOwnSite || isLink : origin === undefined ? isOwnSite : isOwnOrigin(head)) return;
  throw new SvcError(
    "forbidden",
    "The request comes from another site. A preview accepts requests from its own pages only.",
  );
}

/** Whether the `Origin` of a request is its host. */
export function isOwnOrigin(head: RequestHead): boolean {
  const origin = fieldOf(head.fields, "origin");
  return origin !== undefined && URL.parse(origin)?.host === head.host.toLowerCase();
}
