import { eq, sql } from "drizzle-orm";
import { runEgress, runLog, runs } from "../../../../db/schema/index.ts";
import { refusalText } from "../../../contract/egress/refusal.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";

/** Counts of connections to one target, to be added to what is recorded. */
export type EgressChange = Omit<typeof runEgress.$inferSelect, "runId">;

/** Hosts that passed, and targets that were refused, of one run: each. Further ones are counted together. */
export const TARGETS_MAX = 200;

/**
 * Records connections of a run's sandbox. The first refusal of a target is a line in the run's log, and an event of the
 * session. A deleted run has no record.
 */
export async function recordEgress(
  { db, changes: waiting }: Pick<Deps, "db" | "changes">,
  runId: string,
  changes: readonly EgressChange[],
): Promise<void> {
  await db.transaction(async (tx) => {
    // the run exists until the commit
    const [run] = await tx
      .select({ kind: runs.kind, projectId: runs.projectId })
      .from(runs)
      .where(eq(runs.runId, runId))
      .for("key share");
    if (!run) return;
    const known = await tx.select().from(runEgress).where(eq(runEgress.runId, runId));
    const { rows, added } = bounded(known, changes);
    const { connections, sent, received } = runEgress;
    await tx
      .insert(runEgress)
      .values(rows.map((row) => ({ ...row, runId })))
      .onConflictDoUpdate({
        target: [runEgress.runId, runEgress.outcome, runEgress.host, runEgress.port],
        set: {
          connections: sql`${connections} + excluded.connections`,
          sent: sql`${sent} + excluded.sent`,
          received: sql`${received} + excluded.received`,
          lastAt: sql`excluded.last_at`,
        },
      });
    const lines = added.flatMap(({ outcome, host, port, lastAt }) =>
      outcome === "passed" || host === ""
        ? []
        : [{ runId, source: "svc" as const, text: refusalText({ host, port, reason: outcome }), at: lastAt }],
    );
    if (lines.length === 0) return;
    await tx.insert(runLog).values(lines);
    if (run.kind === "session")
      await publish(tx, run.projectId, { type: "session", id: runId, action: "changed" });
  });
  waiting.notify(runId);
}

/** The rows to add to, without more targets than a run may have; and those that are new. */
function bounded(
  known: readonly EgressChange[],
  changes: readonly EgressChange[],
): { rows: EgressChange[]; added: EgressChange[] } {
  const keyOf = ({ outcome, host, port }: EgressChange) => `${outcome} ${host} ${port}`;
  const hasPassed = ({ outcome }: EgressChange) => outcome === "passed";
  const keys = new Set(known.map(keyOf));
  const targets = (passed: boolean) =>
    known.filter((row) => row.host !== "" && hasPassed(row) === passed).length;
  const counts = new Map([true, false].map((passed) => [passed, targets(passed)]));
  const rows = new Map<string, EgressChange>();
  const added: EgressChange[] = [];
  for (const change of changes) {
    const count = counts.get(hasPassed(change)) ?? 0;
    const isNew = change.host !== "" && !keys.has(keyOf(change));
    const row = isNew && count >= TARGETS_MAX ? { ...change, host: "", port: 0 } : change;
    if (row === change && isNew) {
      added.push(change);
      counts.set(hasPassed(change), count + 1);
    }
    const key = keyOf(row);
    const before = rows.get(key);
    rows.set(key, {
      ...row,
      connections: row.connections + (before?.connections ?? 0),
      sent: row.sent + (before?.sent ?? 0),
      received: row.received + (before?.received ?? 0),
    });
  }
  return { rows: [...rows.values()], added };
}
