import { eq } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { type AuditedBy, audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { setGoal } from "../runs/goal.ts";
import { sessionRuns } from "./kind.ts";
import { findSession } from "./read.ts";

/** Longer than the grace period after which a sandbox is killed (`runs/end.ts`). */
const WAIT_MS = 45_000;
const POLL_MS = 1_000;

/**
 * Deletes a session: its sandbox, its tokens and its row. The branch stays.
 * @throws not_found, validation_failed, sandbox_unreachable while the sandbox cannot be stopped: svc keeps trying
 */
export async function deleteSession(
  deps: Deps,
  by: Caller | AuditedBy,
  project: ProjectRow,
  sessionId: string,
): Promise<{ ok: true }> {
  const { session } = await findSession(deps, project, sessionId);
  const id = session.sessionId;
  await deps.db.transaction(async (tx) => {
    const target = session.name ?? id;
    const isChanged = (await setGoal(deps, tx, sessionRuns, id, { goal: "deleted" })) !== null;
    if (isChanged) await audit(tx, by, { action: "session.deleted", target, targetId: id, project });
  });
  deps.changes.notify(id);
  for (const end = performance.now() + WAIT_MS; (await deps.db.$count(runs, eq(runs.runId, id))) > 0; ) {
    if (performance.now() > end) {
      throw new SvcError(
        "sandbox_unreachable",
        `The sandbox of session ${id} could not be stopped yet. svc keeps trying, and then deletes the session: svc sessions ls`,
      );
    }
    await deps.changes.wait(id, POLL_MS);
  }
  return { ok: true };
}
