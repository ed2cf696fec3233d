import type { Deps } from "../../../deps.ts";

/** Separates the proof from records of other services. */
const PREFIX = "svc-verify=";

/**
 * The TXT record that proves that a domain belongs to an account. Its value is not secret: another account's differs, and
 * only the owner of the domain can publish it.
 */
export function recordOf(
  { keys }: Pick<Deps, "keys">,
  { accountId, domain }: { accountId: string; domain: string },
): { name: string; value: string } {
  const mac = keys.mac("app domain", `${accountId} ${domain}`);
  return { name: `_svc-challenge.${domain}`, value: PREFIX + mac.toString("base64url") };
}

/** The TXT records at the name of a domain's proof; null when the resolver did not answer. */
export async function findProofs(
  { txtRecords, log }: Pick<Deps, "txtRecords" | "log">,
  domain: string,
): Promise<readonly string[] | null> {
  try {
    return await txtRecords(`_svc-challenge.${domain}`);
  } catch (error) {
    log.info({ err: error, domain }, "cannot look up the proof of a domain");
    return null;
  }
}
