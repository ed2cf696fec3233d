import { SQL, sql } from "drizzle-orm";
import { fromDrizzle, fromPglite, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Database, Db } from "../../db/client.ts";

/** Work that outlives the process that asked for it. A job is a key: what there is to do is looked up when it is done. */
export interface Jobs {
  /** Asks for work on a key. In a transaction the job is there when that is committed, and not otherwise. */
  enqueue(db: Db, queue: string, key: string): Promise<void>;
  /**
   * Does a queue's work, several keys at a time; what throws, and what dies with its server, is done again. A key that is
   * asked for while it is worked on is worked on a second time at once: whoever minds takes a claim of its own.
   * @param handler its signal is aborted when the server stops
   */
  work(queue: string, handler: (key: string, signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Removes a queue that nobody works on any more, with the jobs that wait in it. */
  remove(queue: string): Promise<void>;
  /** Takes no more jobs, aborts those under way and waits for them, bounded. They are done again at the next start. */
  stop(): Promise<void>;
}

/** A server that is dead is found out after this long, and what it did is done by another, or by itself when it is back. */
const HEARTBEAT_S = 10;
const LOOK_FOR_DEAD_S = 5;
/** Jobs of one queue that a server does at a time: most of the time they wait for a sandbox to start. */
const AT_ONCE = 10;
/** A notification that was lost is made up for after this long. */
const POLL_S = 15;
/** The longest job builds an image, which has a limit of its own. */
const EXPIRE_S = 3600;
/** For what the database did not take; jobs themselves end by telling what went wrong in their session. */
const RETRIES = 10;
const RETRY_DELAY_S = 1;
const RETRY_DELAY_MAX_S = 30;
/** Jobs that are over are of no use to anybody. */
const KEEP_S = 60;
/** Connections of the queue, beside the one that listens. */
const POOL_SIZE = 2;
const STOP_MS = 10_000;

/**
 * Opens the queue, and makes its tables on the first start.
 * @param queues all that are used: one that is made later would wait for the transaction that wants it
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
    superviseIntervalSeconds: LOOK_FOR_DEAD_S,
    monitorIntervalSeconds: LOOK_FOR_DEAD_S,
    schedule: false,
  });
  boss.on("error", (error) => log.warn({ err: error }, "the queue of jobs had a problem"));
  boss.on("warning", ({ message }) => log.warn({ message }, "the queue of jobs has a warning"));
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
        localConcurrency: AT_ONCE,
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

/** The two drivers answer in two forms. */
async function execute(db: Db, query: unknown): Promise<{ rows: unknown[] }> {
  if (!(query instanceof SQL)) throw new TypeError("a job's statement is not drizzle's");
  const result: unknown = await db.execute(query);
  if (Array.isArray(result)) return { rows: result };
  const rows: unknown = Reflect.get(Object(result), "rows");
  return { rows: Array.isArray(rows) ? rows : [] };
}

/**
 * A key waits once however often it is asked for. The policies that also allow one at a time let a key that waits for
 * itself stand in the way of all others.
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
