import type { Deps } from "../../deps.ts";
import { handleClick } from "./handle-click.ts";
import { handleMessage } from "./handle-message.ts";
import { relayPrompt } from "./relay.ts";
import type { TaskRow } from "./rows.ts";
import { SlackError } from "./slack/client.ts";
import { CLAIM_MS, type TaskResult, updateTask } from "./tasks.ts";

/** Failures of a task in a row, with backoff in about half an hour. */
const FAILURES_MAX = 12;
const FAILURE_MAX_MS = 5 * 60_000;

const HANDLERS: Readonly<Record<TaskRow["kind"], (deps: Deps, task: TaskRow) => Promise<TaskResult>>> = {
  message: handleMessage,
  click: handleClick,
  relay: relayPrompt,
};

/**
 * Does a claimed task, and records what follows. A failure is tried again with backoff, unless Slack will not accept it.
 * @param pause is called when Slack asks the connection to wait
 */
export async function runTask(
  deps: Deps,
  task: TaskRow,
  pause: (channelId: string, until: Date) => void,
): Promise<void> {
  const renewal = setInterval(() => void renew(deps, task), CLAIM_MS / 3);
  try {
    await deps.checkpoint("channel-claimed");
    const result = await HANDLERS[task.kind](deps, task);
    const now = await deps.databaseTime(deps.db);
    await updateTask(deps.db, task, {
      failures: 0,
      ...(result === "done"
        ? { dueAt: null, payload: null }
        : { dueAt: new Date(now.getTime() + result.againMs), payload: result.payload }),
    });
  } catch (error) {
    await fail(deps, task, error, pause).catch((failure: unknown) =>
      deps.log.warn({ task: task.taskId, err: failure }, "cannot record a failed task"),
    );
  } finally {
    clearInterval(renewal);
  }
}

/** Without it another server repeats the task, which is safe. */
async function renew(deps: Deps, task: TaskRow): Promise<void> {
  await deps
    .databaseTime(deps.db)
    .then((now) => updateTask(deps.db, task, { dueAt: new Date(now.getTime() + CLAIM_MS) }))
    .catch(() => {});
}

async function fail(
  deps: Deps,
  task: TaskRow,
  error: unknown,
  pause: (channelId: string, until: Date) => void,
): Promise<void> {
  const now = await deps.databaseTime(deps.db);
  const isSlack = error instanceof SlackError;
  const failures = task.failures + 1;
  const about = isSlack ? { slack: error.code } : { err: error };
  const log = { channel: task.channelId, task: task.kind, ...about };
  if (failures > FAILURES_MAX || (isSlack && !error.isTransient)) {
    deps.log.warn(log, "gave up a task of a channel");
    await updateTask(deps.db, task, { dueAt: null, payload: null });
    return;
  }
  const waitMs = isSlack ? error.retryAfter * 1000 : 0;
  if (waitMs > 0) pause(task.channelId, new Date(now.getTime() + waitMs));
  else deps.log.warn(log, "a task of a channel failed, and is tried again");
  const backoff = Math.min(1000 * 2 ** (failures - 1), FAILURE_MAX_MS);
  await updateTask(deps.db, task, { failures, dueAt: new Date(now.getTime() + Math.max(backoff, waitMs)) });
}
