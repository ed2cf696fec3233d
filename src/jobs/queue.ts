import { inArray, SQL, sql } from "drizzle-orm";
import { fromDrizzle, fromPglite, getConstructionPlans, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Database, Db } from "../../db/client.ts";
import type { Changes } from "../lib/changes.ts";
import { within } from "../lib/within.ts";
import { runPeriodically } from "./periodic.ts";
import { newJobIn } from "./places.ts";
import { createWorkers } from "./workers.ts";

/** A persistent job queue. A job is only a key: the handler reads the work from the database. */
export interface Jobs {
  /** Enqueues a key, as part of the transaction if `db` is one, and notifies all servers. */
  enqueue(db: Db, queue: string, key: string): Promise<void>;
  /**
   * Works on a queue, several keys at a time. A job is retried when its handler throws or its server dies. A key that is
   * enqueued while its job runs starts a second job at once; a handler that needs exclusive access takes a claim.
   * @param handler its signal is aborted when the server stops
   * @param atOnce keys that this server works on at a time
   */
  work(
    queue: string,
    handler: (key: string, signal: AbortSignal) => Promise<void>,
    atOnce?: number,
  ): Promise<void>;
  /** Deletes a queue with its jobs. */
  remove(queue: string): Promise<void>;
  /** Stops working, aborts running jobs and waits for them, with a limit. They are retried after the next start. */
  stop(): Promise<void>;
}

/** Jobs of a dead server are retried after this long. */
const HEARTBEAT_S = 10;
/** pg-boss polls as rarely as it can: notifications and `watch` wake it. */
const NEVER_S = 86_400;
/** Less than the interval of rounds, so that each round may supervise. */
const MONITOR_S = 4;
/** The longest job starts a sandbox: it waits in a queue, builds an image and clones, each with its own limit. */
const EXPIRE_S = 12 * 3600;
/** For database errors; other failures are recorded in the run, and end the job. */
const RETRIES = 10;
const RETRY_DELAY_S = 1;
const RETRY_DELAY_MAX_S = 30;
/** Finished jobs. */
const KEEP_S = 60;
/** Connections of the queue, besides the one that listens. */
const POOL_SIZE = 2;
const STOP_MS = 10_000;

/** Keys of one queue that a server works on at a time. */
const AT_ONCE = 10;

/** The schema of the queue's tables. */
const SCHEMA = "jobs";

/** The channel on which servers notify each other of jobs, with the name of the queue. */
const JOBS_CHANNEL = "svc_jobs";

/**
 * Opens the queue, and creates its tables on the first start.
 * @param queues all queues in use: creating one within a transaction that enqueues would deadlock
 * @param changes is notified of new jobs, by any server (`newJobIn`)
 */
export async function openJobs(
  { queue, db: database, listen }: Pick<Database, "db" | "listen" | "queue">,
  queues: readonly string[],
  { changes, log }: { changes: Changes; log: Logger },
): Promise<Jobs> {
  const boss = new PgBoss({
    ...("url" in queue
      ? { connectionString: queue.url, max: POOL_SIZE, application_name: "svc-api jobs" }
      : { db: fromPglite(queue.embedded), backend: "pglite" as const }),
    schema: SCHEMA,
    supervise: false,
    schedule: false,
    monitorIntervalSeconds: MONITOR_S,
    maintenanceIntervalSeconds: KEEP_S,
    queueCacheIntervalSeconds: NEVER_S,
    bamIntervalSeconds: NEVER_S,
  });
  boss.on("error", (error) => log.warn({ err: error }, "job queue error"));
  boss.on("warning", ({ message }) => log.warn({ message }, "job queue warning"));
  await boss.start();
  for (const name of queues) await boss.createQueue(name, OPTIONS);
  const stopping = new AbortController();
  const workers = createWorkers(boss, NEVER_S, stopping.signal);
  const endWatch = runPeriodically(
    { changes, log },
    { subject: "jobs", wakers: queues.map(newJobIn), work: [watch] },
  );
  const listening = listen({
    channel: JOBS_CHANNEL,
    purpose: "new jobs",
    onNotification(name) {
      workers.wakeOne(name);
      changes.notify(newJobIn(name));
    },
    // notifications may have been lost
    onListening: () => changes.notify("jobs"),
  });

  return {
    async enqueue(db, name, key) {
      await boss.send(
        name,
        {},
        // of the job, too: a queue keeps the options with which it was created
        {
          singletonKey: key,
          expireInSeconds: EXPIRE_S,
          db: fromDrizzle({ execute: (query) => execute(db, query) }, sql),
        },
      );
      await db.execute(sql`select pg_notify(${JOBS_CHANNEL}, ${name})`);
    },
    work: (queue, handler, atOnce = AT_ONCE) => workers.start(queue, handler, atOnce),
    async remove(name) {
      await boss.deleteQueue(name);
    },
    async stop() {
      stopping.abort();
      await Promise.all([endWatch(), listening.close()]);
      await within(workers.end(), STOP_MS, () => new Error("jobs are still running")).catch(
        (error: unknown) => log.warn({ err: error }, "cannot wait for the jobs"),
      );
      // a graceful stop would wait for half a second at least
      await boss.stop({ graceful: false });
    },
  };

  /** Finds jobs whose notification was lost, that are due again, or whose server died. @returns whether any are open */
  async function watch(): Promise<boolean> {
    const found = await surveyJobs(database, queues);
    if (found.some(({ isStale }) => isStale)) await boss.supervise();
    for (const { name, isDue } of found) if (isDue) workers.wakeAll(name);
    return found.some(({ isOpen }) => isOpen);
  }
}

/** The statements that create the queue's tables, which `openJobs` otherwise runs on the first start. */
export function jobsTables(): string {
  return getConstructionPlans(SCHEMA);
}

/** The two drivers return different types. */
async function execute(db: Db, query: unknown): Promise<{ rows: unknown[] }> {
  if (!(query instanceof SQL)) throw new TypeError("a job's statement is not drizzle's");
  const result: unknown = await db.execute(query);
  if (Array.isArray(result)) return { rows: result };
  const rows: unknown = Reflect.get(Object(result), "rows");
  return { rows: Array.isArray(rows) ? rows : [] };
}

/**
 * What a queue's jobs need: open ones are not finished, due ones have no worker. Of stale ones the heartbeat has ceased,
 * the time is over, or the result is no longer kept.
 */
async function surveyJobs(db: Db, queues: readonly string[]) {
  if (queues.length === 0) return [];
  const isLost = sql`coalesce(
    heartbeat_on + heartbeat_seconds * interval '1 s' < now() or started_on + expire_seconds * interval '1 s' < now(), false)`;
  return await db
    .select({
      name: sql<string>`name`,
      isOpen: sql<boolean>`bool_or(state <= 'active')`,
      isDue: sql<boolean>`bool_or(state < 'active' and start_after <= now())`,
      isStale: sql<boolean>`bool_or(case when state = 'active' then ${isLost} else
        state > 'active' and completed_on < now() - make_interval(secs => ${KEEP_S}) end)`,
    })
    .from(sql`jobs.job`)
    .where(inArray(sql`name`, [...queues]))
    .groupBy(sql`name`);
}

/**
 * `short` queues a key at most once. With the policies that also limit a key to one running job, a queued key whose job
 * still runs would block all other keys.
 */
const OPTIONS = {
  policy: "short",
  notify: false,
  heartbeatSeconds: HEARTBEAT_S,
  expireInSeconds: EXPIRE_S,
  deleteAfterSeconds: KEEP_S,
  retryLimit: RETRIES,
  retryDelay: RETRY_DELAY_S,
  retryDelayMax: RETRY_DELAY_MAX_S,
  retryBackoff: true,
} as const;
