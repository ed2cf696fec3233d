import type { PGlite } from "@electric-sql/pglite";

/** A subscription to a channel (LISTEN). */
export interface Subscription {
  close(): Promise<void>;
}

export interface Listener {
  channel: string;
  /** What the connection is for, in `pg_stat_activity`. */
  purpose: string;
  onNotification(payload: string): void;
  /** Called on each LISTEN: notifications that were sent before it are lost. */
  onListening(): void;
}

const CONNECT_TIMEOUT_SECONDS = 10;
const CLOSE_TIMEOUT_SECONDS = 1;
/** The backoff before a new connection doubles from the first to the last. */
const FIRST_BACKOFF_MS = 100;
const LAST_BACKOFF_MS = 5_000;
/** How often the connection is probed, to detect one that is dead without an error. */
const PROBE_MS = 15_000;
const PROBE_LIMIT_MS = 10_000;

/**
 * Listens on a separate connection, and reconnects whenever it is lost. The driver's own `listen` gives up when its
 * first attempt to reconnect fails.
 */
export function listenPostgres(url: string, listener: Listener): Subscription {
  const stopping = new AbortController();
  const ended = keepListening(url, listener, stopping.signal);
  return {
    async close() {
      stopping.abort();
      await ended;
    },
  };
}

async function keepListening(url: string, listener: Listener, stopping: AbortSignal): Promise<void> {
  const { default: postgres } = await import("postgres");
  for (let backoff = FIRST_BACKOFF_MS; !stopping.aborted; backoff = Math.min(backoff * 2, LAST_BACKOFF_MS)) {
    const lost = Promise.withResolvers<void>();
    const options = {
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      connection: { application_name: `svc-api ${listener.purpose}` },
      onnotice() {},
      onclose: () => lost.resolve(),
      // missing in the driver's types
      onnotify: (channel: string, payload: string) => {
        if (channel === listener.channel) listener.onNotification(payload);
      },
    };
    const client = postgres(url, options);
    try {
      await client`listen ${client(listener.channel)}`;
      backoff = FIRST_BACKOFF_MS;
      listener.onListening();
      const isAlive = async () => (await client`select 1`).count === 1;
      while (!stopping.aborted && !(await passed(PROBE_MS, lost.promise, stopping)))
        if (!(await answers(isAlive))) break;
    } catch {
      // the database is unavailable: other queries report it
    }
    await client.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => {});
    await passed(backoff, null, stopping);
  }
}

/** Waits. @returns whether the wait ended early */
async function passed(ms: number, end: Promise<void> | null, stopping: AbortSignal): Promise<boolean> {
  if (stopping.aborted) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const onEnd = () => resolve(true);
  stopping.addEventListener("abort", onEnd);
  void end?.then(onEnd);
  const isEnded = await promise;
  clearTimeout(timer);
  stopping.removeEventListener("abort", onEnd);
  return isEnded;
}

async function answers(ask: () => Promise<boolean>): Promise<boolean> {
  return await Promise.race([ask().catch(() => false), Bun.sleep(PROBE_LIMIT_MS).then(() => false)]);
}

/** Listens on the embedded database, which is in this process and always available. */
export function listenEmbedded(client: PGlite, listener: Listener): Subscription {
  const listening = client.listen(listener.channel, listener.onNotification).then((end) => {
    listener.onListening();
    return end;
  });
  return {
    async close() {
      await (await listening)();
    },
  };
}
