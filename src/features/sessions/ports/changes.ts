import type { ListeningPort } from "../../../contract/ports.ts";
import type { Deps } from "../../../deps.ts";
import { isWithinReach } from "../../../jobs/places.ts";
import { fetchPorts } from "../../../sandboxes/daemon.ts";
import { reachSession, type SessionRow } from "../row.ts";

/** How often a sandbox is asked while somebody watches. */
const POLL_MS = 3_000;

/**
 * Returns a sandbox's ports when they have changed since the last call, and null otherwise. It is called repeatedly while
 * somebody watches the session, and never waits for the sandbox.
 */
export function createPortsPoller(deps: Deps): (session: SessionRow | undefined) => ListeningPort[] | null {
  let found: ListeningPort[] = [];
  let shown = "[]";
  let [isAsking, askedAt] = [false, Number.NEGATIVE_INFINITY];
  const ask = async (sessionId: string) => {
    const reached = await reachSession(deps, sessionId);
    const ports = reached?.daemon ? await fetchPorts(reached.daemon) : null;
    if (ports) found = ports;
  };
  return (session) => {
    const isReady = session?.status === "running" && isWithinReach(deps, session);
    if (!isReady) found = [];
    else if (!isAsking && performance.now() - askedAt >= POLL_MS) {
      [isAsking, askedAt] = [true, performance.now()];
      ask(session.sessionId)
        .catch((error: unknown) => deps.log.warn({ err: error }, "cannot list the ports of a sandbox"))
        .finally(() => {
          isAsking = false;
        });
    }
    const text = JSON.stringify(found);
    if (text === shown) return null;
    shown = text;
    return found;
  };
}
