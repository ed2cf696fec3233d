import { and, eq, inArray, isNull, not, or } from "drizzle-orm";
import { runs, sessionPrompts } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { placesOf } from "../../../jobs/places.ts";
import { isUp } from "../../runs/row.ts";
import { wakeSession } from "../restart.ts";
import { deliver, type Turn } from "./deliver.ts";

/** What happens elsewhere, and a sandbox that has time again, is seen this late at most. */
const LOOK_MS = 500;
/** After what could not be done, as when the database is away. */
const PAUSE_MS = 2_000;
/** Sessions that are looked at in one round; the rest has its turn in the next. */
const ROUND = 500;

/** Gives the sandboxes of this server what waits for them. */
export interface PromptKeeper {
  /** A session has something to be answered, or to be said of it. Returns at once. */
  look(sessionId: string): void;
  /** Finds sessions that have been forgotten: their server, or a job of theirs, was lost. */
  round(): Promise<void>;
  /** Ends it; what is being answered goes on, and is asked for by the next server. */
  stop(): Promise<void>;
}

export function keepPrompts(deps: Deps): PromptKeeper {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Sessions that are followed → whether they were asked for meanwhile. */
  const followed = new Map<string, { again: boolean; over: Promise<void> }>();

  return {
    look,
    async round() {
      for (const sessionId of await unsettled(deps)) look(sessionId);
      await wakeStopped(deps);
    },
    async stop() {
      stopping.abort();
      await Promise.all([...followed.values()].map(({ over }) => over));
    },
  };

  function look(sessionId: string): void {
    const known = followed.get(sessionId);
    if (known) known.again = true;
    else if (!signal.aborted) {
      const entry = { again: false, over: Promise.resolve() };
      followed.set(sessionId, entry);
      entry.over = follow(sessionId, entry).finally(() => followed.delete(sessionId));
    }
  }

  async function follow(sessionId: string, entry: { again: boolean }): Promise<void> {
    while (!signal.aborted) {
      // asked for before looking, so that no change falls between
      const changed = deps.changes.wait(sessionId, LOOK_MS, signal);
      entry.again = false;
      const turn = await tryDeliver(sessionId);
      if (turn === "over" && !entry.again) return;
      if (turn === "wait") await changed;
    }
  }

  async function tryDeliver(sessionId: string): Promise<Turn> {
    try {
      return await deliver(deps, sessionId, signal);
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ session: sessionId, err: error }, "a prompt was not delivered");
      await deps.changes.wait(sessionId, PAUSE_MS, signal);
      return "again";
    }
  }
}

/** Sessions here with prompts that can be given, and sessions anywhere that have ended in the middle of an answer. */
async function unsettled(deps: Deps): Promise<string[]> {
  const rows = await deps.db
    .selectDistinct({ sessionId: sessionPrompts.sessionId })
    .from(sessionPrompts)
    .innerJoin(runs, eq(runs.runId, sessionPrompts.sessionId))
    .where(
      and(
        isNull(sessionPrompts.endedAt),
        or(
          and(isUp, inArray(runs.place, placesOf(deps))),
          and(eq(sessionPrompts.state, "running"), not(isUp)),
        ),
      ),
    )
    .limit(ROUND);
  return rows.map(({ sessionId }) => sessionId);
}

/** What was taken is answered: sessions that were stopped only since their server was are started again for it. */
async function wakeStopped(deps: Deps): Promise<void> {
  const rows = await deps.db
    .selectDistinct({ sessionId: sessionPrompts.sessionId })
    .from(sessionPrompts)
    .innerJoin(runs, eq(runs.runId, sessionPrompts.sessionId))
    .where(
      and(
        eq(sessionPrompts.state, "queued"),
        eq(runs.status, "stopped"),
        eq(runs.stopReason, "server"),
        inArray(runs.place, placesOf(deps)),
      ),
    )
    .limit(ROUND);
  for (const { sessionId } of rows) {
    // where the account's cap has no place for it, it waits for one
    await wakeSession(deps, sessionId).catch((error: unknown) =>
      deps.log.debug({ session: sessionId, err: error }, "a session with prompts was not started"),
    );
  }
}
