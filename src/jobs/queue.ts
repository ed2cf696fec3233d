import { SQL, sql } from "drizzle-orm";
import { fromDrizzle, fromPglite, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Database, Db } from "../../db/client.ts";

/** A persistent job queue. A job is only a key: the handler reads the work from the database. */
export interface Jobs {
  /** Enqueues a key, as part of the transaction if `db` is one. */
  enqueue(db: Db, queue: string, key: string): Promise<void>;
  /**
   * Works on a queue, several keys at a time. A job is retried when its handler throws or its server dies. A key that is
   * enqueued while its job runs starts a second job at once; a handler that needs exclusive access takes a claim.
   * @param handler its signal is aborted when the server stops
   */
  work(queue: string, handler: (key: string, signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Deletes a queue with its jobs. */
  remove(queue: string): Promise<void>;
  /** Stops working, aborts running jobs and waits for them, with a limit. They are retried after the next start. */
  stop(): Promise<void>;
}

/** Jobs of a dead server are retried after this long. */
const HEARTBEAT_S = 10;
const SUPERVISE_S = 5;
/** Jobs of one queue that a server runs at a time: they mostly wait for sandboxes to start. */
const CONCURRENCY = 10;
/** In case a notification was lost. */
const POLL_S = 15;
/** The longest job builds an image, which has its own limit. */
const EXPIRE_S = 3600;
/** For database errors; other failures are recorded in the run, and end the job. */
const RETRIES = 10;
const RETRY_DELAY_S = 1;
const RETRY_DELAY_MAX_S = 30;
/** Finished jobs. */
const KEEP_S = 60;
/** Connections of the queue, besides the one that listens. */
const POOL_SIZE = 2;
const STOP_MS = 10_000;

/**
 * Opens the queue, and creates its tables on the first start.
 * @param queues all queues in use: creating one within a transaction that enqueues would deadlock
 */
export async function openJobs(
  { queue }: Pick<Database, "queue">,
  queues: readonly string[],
  log: Logger,
): Promise<Jobs> {
  const boss = new PgBoss({
    ...("url" in queue
      ? { connectionString: queue.url, max: POOL_SIZE, application_name: "svc-api jobs" }
      : { db: fromPglite(queue.embedded), backend: "pglite" as const }),
    schema: "jobs",
    useListenNotify: true,
    superviseIntervalSeconds: SUPERVISE_S,
    monitorIntervalSeconds: SUPERVISE_S,
    schedule: false,
  });
  boss.on("error", (error) => log.warn({ err: error }, "job queue error"));
  boss.on("warning", ({ message }) => log.warn({ message }, "job queue warning"));
  await boss.start();
  for (const name of queues) await boss.createQueue(name, OPTIONS);
  const stopping = new AbortController();

  return {
    async enqueue(db, name, key) {
      await boss.send(
        name,
        {},
        { singletonKey: key, db: fromDrizzle({ execute: (query) => execute(db, query) }, sql) },
      );
    },
    async work(name, handler) {
      const options = {
        localConcurrency: CONCURRENCY,
        notifyPollingIntervalSeconds: POLL_S,
        includeMetadata: true,
      } as const;
      await boss.work(name, options, async ([job]) => {
        if (job) await handler(job.singletonKey ?? "", AbortSignal.any([job.signal, stopping.signal]));
      });
    },
    async remove(name) {
      await boss.deleteQueue(name);
    },
    async stop() {
      stopping.abort();
      await boss.stop({ graceful: true, timeout: STOP_MS });
    },
  };
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
 * `short` queues a key at most once. With the policies that also limit a key to one running job, a queued key whose job
 * still runs would block all other keys.
 */
const OPTIONS = {
  policy: "short",
  notify: true,
  heartbeatSeconds: HEARTBEAT_S,
  expireInSeconds: EXPIRE_S,
  deleteAfterSeconds: KEEP_S,
  retryLimit: RETRIES,
  retryDelay: RETRY_DELAY_S,
  retryDelayMax: RETRY_DELAY_MAX_S,
  retryBackoff: true,
} as const;
