import { eq } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { RunRow } from "./row.ts";

/** Changes by another server are noticed within this time; those by this one at once. */
const POLL_MS = 1_000;

/** A signal that is aborted when the goal is no longer this start of the run. */
export function watchGoal(deps: Deps, run: RunRow): { signal: AbortSignal; stop(): void } {
  const changed = new AbortController();
  const over = new AbortController();
  void watch();
  return { signal: changed.signal, stop: () => over.abort() };

  async function watch(): Promise<void> {
    while (!over.signal.aborted && !changed.signal.aborted) {
      const wait = deps.changes.wait(run.runId, POLL_MS, over.signal);
      const isSame = await isCurrent().catch(() => true);
      if (!isSame) changed.abort();
      await wait;
    }
  }

  async function isCurrent(): Promise<boolean> {
    const [row] = await deps.db
      .select({ goal: runs.goal, generation: runs.generation })
      .from(runs)
      .where(eq(runs.runId, run.runId));
    return row?.goal === "running" && row.generation === run.generation;
  }
}
