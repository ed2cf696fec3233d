/**
 * Why a connection was refused: the policy does not allow it, or allows `none`; its address is not on the public internet; or TLS in an
 * allowed tunnel named another server, or none.
 */
export const REFUSAL_REASONS = ["not_allowed", "none", "not_public", "server_name"] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A connection of a sandbox that was refused. */
export interface EgressRefusal {
  host: string;
  port: number;
  reason: RefusalReason;
}

/** The entry of an allow list for a connection: without a port for those that an entry has anyway. */
export function entryFor({ host, port }: Pick<EgressRefusal, "host" | "port">): string {
  return port === 443 || port === 80 ? host : `${host}:${port}`;
}

/** A refusal as a sentence, without a full stop: who can do what about it. */
export function refusalText({ host, port, reason }: EgressRefusal): string {
  const target = `${host}:${port}`;
  if (reason === "not_public") {
    const remedy = /^[\d.]+$/.test(host) ? "" : "; if it should be, check the DNS of svc's server";
    return `refused: ${target}: its address is not on the public internet, and no policy allows such an address${remedy}`;
  }
  if (reason === "none") return `refused: ${target}: the policy of the project or of the server is "none"`;
  if (reason === "server_name")
    return `refused: ${target}: TLS must name the server that the tunnel was opened to`;
  return `refused: ${target}; "svc network allow ${entryFor({ host, port })}" opens a change request`;
}
