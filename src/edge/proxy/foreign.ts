import { SvcError } from "../../contract/errors.ts";
import { fieldOf } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * A cookie goes along with whatever a browser asks for, so what another site's page asks for is refused: what changes
 * something, WebSockets (which no CORS guards), and whatever a page loads. A link to the preview is none of these.
 * `SameSite` alone would let the other names of one domain through, and each is another's app.
 * @throws forbidden
 */
export function refuseForeign(head: RequestHead): void {
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

/** Whether a request says that a page of this very host made it. */
export function isOwnOrigin(head: RequestHead): boolean {
  const origin = fieldOf(head.fields, "origin");
  return origin !== undefined && URL.parse(origin)?.host === head.host.toLowerCase();
}
