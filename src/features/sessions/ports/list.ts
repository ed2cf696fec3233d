import { SvcError } from "../../../contract/errors.ts";
import type { ListeningPort } from "../../../contract/ports.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { fetchPorts } from "../../../sandboxes/daemon.ts";
import { findSession } from "../read.ts";
import { requireDaemon } from "../require-daemon.ts";

/** Where programs of a session's sandbox listen. @throws not_found, not_running, sandbox_unreachable */
export async function listPorts(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<{ ports: ListeningPort[] }> {
  const { session } = await findSession(deps, project, name);
  const ports = await fetchPorts(await requireDaemon(deps, session, "with ports"));
  if (ports) return { ports };
  throw new SvcError(
    "sandbox_unreachable",
    `The sandbox of session ${session.sessionId} does not list its ports. See its log with: svc sessions logs ${session.sessionId}`,
  );
}
