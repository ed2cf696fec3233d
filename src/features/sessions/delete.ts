import { eq } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { setGoal } from "../runs/goal.ts";
import { sessionRuns } from "./kind.ts";
import { findSession } from "./read.ts";

/** A sandbox is asked to end, and killed when it does not; a person waits for that. */
const WAIT_MS = 45_000;
const LOOK_MS = 1_000;

/**
 * Deletes a session: its sandbox ends, its tokens die, its row goes. The branch stays.
 * @throws not_found, validation_failed, sandbox_unreachable while the sandbox cannot be ended: it is tried on.
 */
export async function deleteSession(
  deps: Deps,
  project: ProjectRow,
  sessionId: string,
): Promise<{ ok: true }> {
  const { session } = await findSession(deps, project, sessionId);
  const id = session.sessionId;
  await deps.db.transaction((tx) => setGoal(deps, tx, sessionRuns, id, { goal: "deleted" }));
  deps.changes.notify(id);
  for (const end = performance.now() + WAIT_MS; await exists(deps, id); ) {
    if (performance.now() > end) {
      throw new SvcError(
        "sandbox_unreachable",
        "The session's sandbox could not be ended yet. svc goes on trying, and deletes the session then.",
      );
    }
    await deps.changes.wait(id, LOOK_MS);
  }
  return { ok: true };
}

async function exists(deps: Deps, sessionId: string): Promise<boolean> {
  return (await deps.db.$count(runs, eq(runs.runId, sessionId))) > 0;
}
