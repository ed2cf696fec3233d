import { and, eq } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import { ORPHANED_EXIT_CODE } from "../contract/daemon.ts";
import type { Deps } from "../deps.ts";
import { isUp } from "./alive.ts";
import { endKeys } from "./keys.ts";
import { openLog } from "./log.ts";
import { keepSandboxLog } from "./logs.ts";
import { saveOrphan } from "./save-orphan.ts";
import { tell } from "./tell.ts";
import type { SessionRow } from "./wire.ts";

/**
 * What a sandbox gets to end its runs (3 s), save its work (20 s), stop its runtime (5 s) and save what that has written
 * as it ended (5 s); then it is killed. Nearly all are done within a second or two.
 */
const GRACE_MS = 35_000;

/** Stops a session that is to be stopped: its sandbox ends, its keys die, and then it is `stopped`. */
export async function endSession(deps: Deps, session: SessionRow): Promise<void> {
  await endSandbox(deps, session);
  await deps.checkpoint("sandbox-ended");
  const now = deps.clock();
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projectSessions)
      .set({ status: "stopped", step: null, updatedAt: now })
      .where(and(eq(projectSessions.sessionId, session.sessionId), eq(projectSessions.goal, "stopped"), isUp))
      .returning({ sessionId: projectSessions.sessionId });
    if (!row) return;
    await endKeys(tx, session.sessionId, { state: "stopped", updatedAt: now });
    await tell(deps, tx, session, "changed");
  });
  const log = openLog(deps, session.sessionId);
  log.write("svc", session.purpose === "app" ? "The app has stopped." : "The session has stopped.");
  await log.flush();
  deps.changes.notify(session.sessionId);
  await deps.checkpoint("end-recorded");
}

/** Deletes a session that is to be deleted: its sandbox first, since nobody could end it without the row. */
export async function removeSession(deps: Deps, session: SessionRow): Promise<void> {
  await deps.sandboxes.get(session.provider)?.stop(session.sessionId, GRACE_MS);
  await deps.checkpoint("sandbox-ended");
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .delete(projectSessions)
      .where(and(eq(projectSessions.sessionId, session.sessionId), eq(projectSessions.goal, "deleted")))
      .returning({ id: projectSessions.sessionId });
    if (row) await tell(deps, tx, session, "deleted");
  });
  deps.changes.notify(session.sessionId);
  await deps.checkpoint("end-recorded");
}

/** Ends a session's sandbox, if there is one, and keeps the end of what it has said. */
export async function endSandbox(deps: Deps, session: SessionRow): Promise<void> {
  const provider = deps.sandboxes.get(session.provider);
  const sandbox = provider && (await provider.find(session.sessionId));
  if (!sandbox) return;
  if (sandbox.exitCode === ORPHANED_EXIT_CODE) await saveOrphan(deps, session);
  await keepSandboxLog(deps, session);
  await provider.stop(session.sessionId, GRACE_MS);
}
