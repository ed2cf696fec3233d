import { and, eq, exists, inArray, isNotNull, isNull, lte, min, notInArray, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import { channelTasks, runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { EVENTS_CHANNEL } from "../../events/publish.ts";
import { placesOf } from "../../jobs/places.ts";
import type { TaskRow } from "./rows.ts";
import type { SlackClick, SlackMessage } from "./slack/payload.ts";

/** Messages and clicks of one connection that wait: far more than people write while a server restarts. */
export const TASKS_WAITING_MAX = 500;
/** A claim ends after this, if its server died; a server that works on it renews it. */
export const CLAIM_MS = 30_000;
/** Keys are kept for longer than Slack sends an event again, which it does for a day at most. */
const KEPT_DAYS = 7;
/** Rows deleted by one statement, so that none exceeds the statement timeout. */
const TRIM_BATCH = 2_000;

/** The name in `changes` under which new tasks are announced. */
export const CHANNEL_WAKER = "channel";

export const messageKey = ({ room, ts }: Pick<SlackMessage, "room" | "ts">) => `message ${room} ${ts}`;
export const clickKey = ({ room, ts, clickedAt }: SlackClick) => `click ${room} ${ts} ${clickedAt}`;
export const relayKey = (promptId: string) => `relay ${promptId}`;

/** What follows a task: nothing, or the same again after a while, with this payload. */
export type TaskResult = "done" | { againMs: number; payload: Record<string, unknown> };

type NewTask = Pick<TaskRow, "channelId" | "key" | "kind"> & {
  payload: Record<string, unknown>;
  sessionId?: string;
};

/**
 * Adds a task, once for its key, and wakes the workers.
 * @returns false: there is one with this key, or the connection was removed
 */
export async function addTask(
  { db, databaseTime }: Pick<Deps, "db" | "databaseTime">,
  task: NewTask,
): Promise<boolean> {
  const now = await databaseTime(db);
  try {
    const [added] = await db
      .insert(channelTasks)
      .values({ ...task, dueAt: now, createdAt: now })
      .onConflictDoNothing()
      .returning({ id: channelTasks.taskId });
    if (!added) return false;
  } catch (error) {
    if (isForeignKeyViolation(error)) return false;
    throw error;
  }
  await db.execute(sql`select pg_notify(${EVENTS_CHANNEL}, ${JSON.stringify({ type: CHANNEL_WAKER })})`);
  return true;
}

/** Records that something was done. */
export async function addMark(
  { db, databaseTime }: Pick<Deps, "db" | "databaseTime">,
  channelId: string,
  key: string,
): Promise<void> {
  const values = { channelId, key, kind: "message" as const, dueAt: null, createdAt: await databaseTime(db) };
  await db.insert(channelTasks).values(values).onConflictDoNothing();
}

/** Whether a connection has a task or a mark with this key. */
export async function hasKey(db: Db, channelId: string, key: string): Promise<boolean> {
  const isIt = and(eq(channelTasks.channelId, channelId), eq(channelTasks.key, key));
  return (await db.$count(channelTasks, isIt)) > 0;
}

/** Claims the task that has been due for longest. A relay is for a server that reaches the session's sandbox. */
export async function claimTask(
  deps: Pick<Deps, "db" | "serverId">,
  { now, without }: { now: Date; without: string[] },
): Promise<TaskRow | null> {
  const run = deps.db
    .select({ one: sql`1` })
    .from(runs)
    .where(and(eq(runs.runId, channelTasks.sessionId), inArray(runs.place, placesOf(deps))));
  const next = deps.db
    .select({ id: channelTasks.taskId })
    .from(channelTasks)
    .where(
      and(
        lte(channelTasks.dueAt, now),
        notInArray(channelTasks.channelId, without),
        or(isNull(channelTasks.sessionId), exists(run)),
      ),
    )
    .orderBy(channelTasks.dueAt)
    .limit(1)
    .for("update", { skipLocked: true });
  const [claimed] = await deps.db
    .update(channelTasks)
    .set({ dueAt: new Date(now.getTime() + CLAIM_MS), attempts: sql`${channelTasks.attempts} + 1` })
    .where(eq(channelTasks.taskId, sql`(${next})`))
    .returning();
  return claimed ?? null;
}

/** Changes a claimed task. @returns false if another server has claimed it meanwhile, or it was removed */
export async function updateTask(
  db: Db,
  { taskId, attempts }: TaskRow,
  values: Partial<Pick<TaskRow, "payload" | "dueAt" | "failures">>,
): Promise<boolean> {
  const changed = await db
    .update(channelTasks)
    .set(values)
    .where(
      and(
        eq(channelTasks.taskId, taskId),
        eq(channelTasks.attempts, attempts),
        isNotNull(channelTasks.dueAt),
      ),
    )
    .returning({ id: channelTasks.taskId });
  return changed.length > 0;
}

/** When the next task is due that this server can do; null: none. */
export async function nextDue(deps: Pick<Deps, "db" | "serverId">): Promise<Date | null> {
  const run = deps.db
    .select({ one: sql`1` })
    .from(runs)
    .where(and(eq(runs.runId, channelTasks.sessionId), inArray(runs.place, placesOf(deps))));
  const [row] = await deps.db
    .select({ at: min(channelTasks.dueAt) })
    .from(channelTasks)
    .where(and(isNotNull(channelTasks.dueAt), or(isNull(channelTasks.sessionId), exists(run))));
  return row?.at ?? null;
}

/** Removes the keys of what was done long ago. */
export async function trimTasks({ db, databaseTime }: Pick<Deps, "db" | "databaseTime">): Promise<void> {
  const before = new Date((await databaseTime(db)).getTime() - KEPT_DAYS * 86_400_000);
  for (let removed = TRIM_BATCH; removed === TRIM_BATCH; ) {
    const old = db
      .select({ id: channelTasks.taskId })
      .from(channelTasks)
      .where(and(isNull(channelTasks.dueAt), lte(channelTasks.createdAt, before)))
      .limit(TRIM_BATCH);
    const gone = await db
      .delete(channelTasks)
      .where(inArray(channelTasks.taskId, old))
      .returning({ id: channelTasks.taskId });
    removed = gone.length;
  }
}
