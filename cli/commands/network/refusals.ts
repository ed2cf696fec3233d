import { entryFor, refusalText } from "../../../src/contract/egress/refusal.ts";
import type { SessionConnection } from "../../../src/contract/network.ts";
import { oneLine } from "../../text.ts";

/** Lines of refusals on the page of a session. */
const SHOWN_MAX = 5;

/** The newest refusals, each as a line. */
export function refusalLines(connections: readonly SessionConnection[]): string[] {
  return connections
    .flatMap(({ outcome, host, port }) =>
      outcome === "passed" || host === null || port === null
        ? []
        : [oneLine(refusalText({ host, port, reason: outcome }))],
    )
    .slice(0, SHOWN_MAX);
}

/** The command that allows the host that was refused last; null if there is none. */
export function allowHint(connections: readonly SessionConnection[]): string | null {
  const last = connections.find(({ outcome, host }) => outcome === "not_allowed" && host !== null);
  if (!last || last.host === null || last.port === null) return null;
  return `svc network allow ${oneLine(entryFor({ host: last.host, port: last.port }))}`;
}
