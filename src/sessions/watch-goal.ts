import { eq } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import type { SessionRow } from "./wire.ts";

/** Another server may have been asked; this one hears of its own changes at once. */
const LOOK_MS = 1_000;

/** A signal that is aborted when a session is no longer to be started, or to be started anew. */
export function watchGoal(deps: Deps, session: SessionRow): { signal: AbortSignal; stop(): void } {
  const changed = new AbortController();
  const over = new AbortController();
  void watch();
  return { signal: changed.signal, stop: () => over.abort() };

  async function watch(): Promise<void> {
    while (!over.signal.aborted && !changed.signal.aborted) {
      const wait = deps.changes.wait(session.sessionId, LOOK_MS, over.signal);
      const isSame = await stillWanted().catch(() => true);
      if (!isSame) changed.abort();
      await wait;
    }
  }

  async function stillWanted(): Promise<boolean> {
    const [row] = await deps.db
      .select({ goal: projectSessions.goal, generation: projectSessions.generation })
      .from(projectSessions)
      .where(eq(projectSessions.sessionId, session.sessionId));
    return row?.goal === "running" && row.generation === session.generation;
  }
}
