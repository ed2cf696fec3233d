import { SvcError } from "../../contract/errors.ts";
import type { OutboundError } from "../../lib/outbound.ts";
import type { ConnectorRow } from "./row.ts";

/** @throws connector_failed */
export function connectorUrl({ slug }: Pick<ConnectorRow, "slug">, text: string): URL {
  const url = URL.parse(text);
  if (url) return url;
  throw failed(slug, "its address is not a URL");
}

/** @param why the end of a sentence, without anything secret */
export function failed(slug: string, why: string): SvcError {
  return new SvcError("connector_failed", `The connector "${slug}" failed: ${why}.`);
}

/** @param error its message names the host and nothing else of the URL */
export function notReached(slug: string, error: OutboundError): SvcError {
  const code = error.reason === "not_allowed" ? "url_not_allowed" : "connector_failed";
  return new SvcError(code, `The connector "${slug}" cannot be used: ${error.message}`);
}

/** A redirect is not followed: it could lead to another origin, with the credential. */
export function statusFailure(slug: string, status: number): SvcError {
  if (status >= 400) return failed(slug, `it answered ${status}`);
  return failed(
    slug,
    `it answered ${status}, and redirects are not followed. Set its url to the final address`,
  );
}
