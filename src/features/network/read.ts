import { desc, eq } from "drizzle-orm";
import { runEgress, sessionSandboxes } from "../../../db/schema/index.ts";
import { limited } from "../../contract/egress/policy.ts";
import type { SessionConnection, SessionNetwork } from "../../contract/network.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { findSession } from "../sessions/read.ts";

/** What a session's sandbox may connect to, and what became of its connections: the newest first. @throws not_found */
export async function readSessionNetwork(
  deps: Pick<Deps, "db" | "config">,
  project: ProjectRow,
  name: string,
): Promise<SessionNetwork> {
  const { sessionId } = (await findSession(deps, project, name)).session;
  const [sandbox] = await deps.db
    .select({ egress: sessionSandboxes.egress })
    .from(sessionSandboxes)
    .where(eq(sessionSandboxes.runId, sessionId));
  // the record of a run is bounded (`runs/egress/record.ts`)
  const rows = await deps.db
    .select()
    .from(runEgress)
    .where(eq(runEgress.runId, sessionId))
    .orderBy(desc(runEgress.lastAt), runEgress.host, runEgress.port);
  const policy = sandbox?.egress ? limited(sandbox.egress, deps.config.egress) : null;
  return { egress: policy?.mode ?? null, allow: [...(policy?.allow ?? [])], connections: rows.map(toWire) };
}

function toWire(row: typeof runEgress.$inferSelect): SessionConnection {
  const { outcome, host, port, connections, sent, received, lastAt } = row;
  const isOther = host === "";
  return {
    outcome,
    host: isOther ? null : host,
    port: isOther || outcome === "passed" ? null : port,
    ...{ connections, sent, received },
    last_at: lastAt.toISOString(),
  };
}
