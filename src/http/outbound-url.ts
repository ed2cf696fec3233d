import type { Config } from "../config.ts";
import { SvcError } from "../contract/errors.ts";
import { OutboundError, readOutboundUrl } from "../lib/outbound.ts";
import { storable } from "./text.ts";

/**
 * Reads the field `url` of a body: an address that the server will send requests to.
 * @returns the URL in canonical form
 * @throws validation_failed, url_not_allowed
 */
export function requireOutboundUrl(
  { allowPrivateAddresses }: Pick<Config, "allowPrivateAddresses">,
  text: string,
): string {
  try {
    return readOutboundUrl(storable("url", text, 4 * text.length), allowPrivateAddresses).href;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const code = error.reason === "not_allowed" ? "url_not_allowed" : "validation_failed";
    throw new SvcError(code, error.message, { details: [{ path: "url", message: error.message }] });
  }
}
