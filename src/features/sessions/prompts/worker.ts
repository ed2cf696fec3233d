import { and, eq, inArray, isNull, not, or } from "drizzle-orm";
import { runs, sessionPrompts } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { placesOf } from "../../../jobs/places.ts";
import { isUp } from "../../runs/row.ts";
import { resumeSession } from "../restart.ts";
import { deliver, type NextCall } from "./deliver.ts";

/** Changes elsewhere, and a sandbox that becomes idle, are noticed within this time. */
const POLL_MS = 500;
/** After an error, such as a database that is down. */
const BACKOFF_MS = 2_000;
/** Sessions checked per round; the next round checks the rest. */
const BATCH = 500;

/** Delivers queued prompts to the sandboxes of this server. */
interface PromptWorker {
  /** Starts to deliver a session's prompts, in the background. */
  check(sessionId: string): void;
  /** Finds sessions whose job, or server, was lost. @returns whether there are prompts to deliver */
  round(): Promise<boolean>;
  /** Stops the worker. The next server polls the prompts that are being answered. */
  stop(): Promise<void>;
}

export function createPromptWorker(deps: Deps): PromptWorker {
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Sessions being delivered to → whether they were enqueued again meanwhile. */
  const active = new Map<string, { again: boolean; over: Promise<void> }>();

  return {
    check,
    async round() {
      const found = await undelivered(deps);
      for (const sessionId of found) check(sessionId);
      return (await wakeStopped(deps)) > 0 || found.length > 0;
    },
    async stop() {
      stopping.abort();
      await Promise.all([...active.values()].map(({ over }) => over));
    },
  };

  function check(sessionId: string): void {
    const known = active.get(sessionId);
    if (known) known.again = true;
    else if (!signal.aborted) {
      const entry = { again: false, over: Promise.resolve() };
      active.set(sessionId, entry);
      entry.over = deliverAll(sessionId, entry).finally(() => active.delete(sessionId));
    }
  }

  async function deliverAll(sessionId: string, entry: { again: boolean }): Promise<void> {
    while (!signal.aborted) {
      // subscribe before reading, so that no change is missed
      const changed = deps.changes.wait(sessionId, POLL_MS, signal);
      entry.again = false;
      const next = await tryDeliver(sessionId);
      if (next === "over" && !entry.again) return;
      if (next === "wait") await changed;
    }
  }

  async function tryDeliver(sessionId: string): Promise<NextCall> {
    try {
      return await deliver(deps, sessionId, signal);
    } catch (error) {
      if (!signal.aborted) deps.log.warn({ session: sessionId, err: error }, "cannot deliver a prompt");
      await deps.changes.wait(sessionId, BACKOFF_MS, signal);
      return "again";
    }
  }
}

/**
 * Sessions of this server with prompts to deliver, and sessions of any server that ended in the middle of an answer.
 */
async function undelivered(deps: Deps): Promise<string[]> {
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
    .limit(BATCH);
  return rows.map(({ sessionId }) => sessionId);
}

/** Starts sessions with queued prompts again that were stopped with their server. @returns how many there are */
async function wakeStopped(deps: Deps): Promise<number> {
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
    .limit(BATCH);
  for (const { sessionId } of rows) {
    // one that the account's cap refuses is tried again in the next round
    await resumeSession(deps, sessionId).catch((error: unknown) =>
      deps.log.debug({ session: sessionId, err: error }, "cannot start a session with queued prompts"),
    );
  }
  return rows.length;
}
