import { and, eq, inArray } from "drizzle-orm";
import { projectSessions, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { placesOf } from "../../jobs/places.ts";
import { sendEnv } from "../../sandboxes/daemon.ts";
import { reachSession } from "./row.ts";
import { openSessionSecrets } from "./secrets.ts";

/**
 * Sends the current secrets to the running sandboxes of a project (contract: `/svc/env`).
 * @throws when a running sandbox did not accept them: the job is retried
 */
export async function pushSecrets(deps: Deps, projectId: string): Promise<void> {
  const sessions = await deps.db
    .select({ sessionId: projectSessions.sessionId })
    .from(projectSessions)
    .innerJoin(runs, eq(runs.runId, projectSessions.sessionId))
    .where(
      and(
        eq(projectSessions.projectId, projectId),
        eq(runs.status, "running"),
        inArray(runs.place, placesOf(deps)),
      ),
    );
  const accepted = await Promise.all(
    sessions.map(async ({ sessionId }) => {
      const reached = await reachSession(deps, sessionId);
      if (!reached?.daemon || reached.session.status !== "running") return true;
      const { values, revision } = await openSessionSecrets(deps, reached.session);
      return await sendEnv(reached.daemon, { revision, env: values });
    }),
  );
  if (accepted.includes(false)) throw new Error("a running sandbox did not accept its secrets");
}
