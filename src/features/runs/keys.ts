import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { runs, sessionSandboxes } from "../../../db/schema/index.ts";
import { SERVICE_KEY_PREFIX } from "../../contract/account.ts";
import type { EgressPolicy } from "../../contract/egress/policy.ts";
import type { Deps } from "../../deps.ts";
import type { RunKind, SandboxKeys } from "./kind.ts";
import { keyPurpose } from "./reach.ts";
import { type RunRow, SUPERSEDED, thisStart } from "./row.ts";

/** Records that a run's sandbox has ended, and notifies its kind. */
export async function recordSandboxEnd(
  tx: Db,
  kind: RunKind,
  runId: string,
  state: "stopped" | "error",
  now: Date,
): Promise<void> {
  await tx
    .update(sessionSandboxes)
    .set({ state, updatedAt: now, host: null, port: null })
    .where(eq(sessionSandboxes.runId, runId));
  await kind.onEnded?.(tx, runId, state, now);
}

/**
 * Issues the keys of one start (spec 5.7), and records what its sandbox may connect to. The keys of an earlier start become
 * invalid.
 * @throws when the run has another goal by now: a later start has its own keys
 */
export async function issueKeys(
  deps: Deps,
  kind: RunKind,
  run: RunRow,
  egress: EgressPolicy,
): Promise<SandboxKeys> {
  const { runId, projectId, generation } = run;
  const serviceKey = SERVICE_KEY_PREFIX + randomBytes(32).toString("base64url");
  const now = deps.clock();
  const sandbox = {
    state: "provisioning" as const,
    serviceKeyHash: deps.keys.hashToken(serviceKey),
    serviceKey: deps.keys.seal(projectId, keyPurpose(runId), serviceKey),
    generation,
    host: null,
    port: null,
    egress,
    updatedAt: now,
  };
  return await deps.db.transaction(async (tx) => {
    const [row] = await tx.select().from(runs).where(thisStart(run)).for("update");
    if (!row) throw new Error(SUPERSEDED);
    const granted = (await kind.grant?.(deps, tx, run)) ?? { token: null, models: null };
    await tx
      .insert(sessionSandboxes)
      .values({ runId, createdAt: now, ...sandbox })
      .onConflictDoUpdate({ target: sessionSandboxes.runId, set: sandbox });
    return { serviceKey, ...granted };
  });
}
