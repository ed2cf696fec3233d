import type { Deps } from "../../deps.ts";
import { ROUND_MS, runRounds } from "../../jobs/rounds.ts";
import type { TaskRow } from "./rows.ts";
import { runTask } from "./run-task.ts";
import { CHANNEL_WAKER, claimTask, nextDue, trimTasks } from "./tasks.ts";

/** Tasks of this server at a time, and those of one connection: they wait for Slack, git and sandboxes. */
const AT_A_TIME = 16;
const CHANNEL_AT_A_TIME = 4;
/** The shortest time between two rounds without a notification. */
const SOON_MS = 1_000;
/** After a database error. */
const BACKOFF_MS = 3_000;
const TRIM_MS = 60 * 60_000;
/** How long a shutdown waits for tasks in progress. They are claimed again after the next start. */
const END_MS = 5_000;

/**
 * Does what chats ask for, together with all other servers of the database.
 *
 * 1. `slack/receive.ts` records a message or a click in the request, once for its key, and wakes the servers.
 * 2. `handle-message.ts` makes it a session or a prompt, whose ids follow from the message: a repetition after a crash
 *    finds them. It adds a relay in turn.
 * 3. `relay.ts` reports a prompt to its thread until it has ended: on the server that reaches the sandbox.
 *
 * A task is claimed for a short time, which is renewed while it runs. So a task of a killed server begins again, and can
 * post a message twice, but loses none.
 *
 * @returns stops the worker
 */
export function startChannelWorker(deps: Deps): () => Promise<void> {
  const active = new Map<Promise<void>, TaskRow>();
  /** Connections that Slack has asked to wait, until when by the database's clock. */
  const paused = new Map<string, number>();
  const stop = runRounds(deps, {
    subject: "channels",
    wakers: [CHANNEL_WAKER],
    round,
    trim: () => trimTasks(deps),
    trimMs: TRIM_MS,
    backoffMs: BACKOFF_MS,
  });
  return async () => {
    await stop();
    await Promise.race([Promise.all(active.keys()), Bun.sleep(END_MS)]);
  };

  async function round(signal: AbortSignal): Promise<number> {
    await fill(signal);
    return await untilNext();
  }

  async function untilNext(): Promise<number> {
    const next = await nextDue(deps);
    if (!next) return ROUND_MS;
    const now = await deps.databaseTime(deps.db);
    return Math.min(Math.max(next.getTime() - now.getTime(), SOON_MS), ROUND_MS);
  }

  async function fill(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && active.size < AT_A_TIME) {
      const now = await deps.databaseTime(deps.db);
      const task = await claimTask(deps, { now, without: fullOrPaused(now) });
      if (!task) return;
      const work = runTask(deps, task, pause).finally(() => {
        active.delete(work);
        deps.changes.notify(CHANNEL_WAKER);
      });
      active.set(work, task);
    }
  }

  function pause(channelId: string, until: Date): void {
    paused.set(channelId, until.getTime());
  }

  function fullOrPaused(now: Date): string[] {
    for (const [channelId, until] of paused) if (until <= now.getTime()) paused.delete(channelId);
    const counts = new Map<string, number>();
    for (const { channelId } of active.values()) counts.set(channelId, (counts.get(channelId) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count >= CHANNEL_AT_A_TIME).map(([id]) => id);
    return [...full, ...paused.keys()];
  }
}
