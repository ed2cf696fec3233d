import type { PGlite } from "@electric-sql/pglite";

/** A subscription to a channel of LISTEN/NOTIFY. */
export interface Subscription {
  close(): Promise<void>;
}

export interface Subscriber {
  channel: string;
  onNotice(payload: string): void;
  /** Called each time that LISTEN succeeds: notifications from before were missed. */
  onListening(): void;
}

const CONNECT_TIMEOUT_SECONDS = 10;
const CLOSE_TIMEOUT_SECONDS = 1;
/** The backoff before a new connection; it doubles up to the maximum. */
const BACKOFF_MS = 100;
const BACKOFF_MAX_MS = 5_000;
/** Detects a connection that was lost without an error. */
const PROBE_MS = 15_000;
const PROBE_LIMIT_MS = 10_000;

/**
 * Listens on its own connection, and reconnects whenever that is lost: the driver's own `listen` gives up when its
 * first reconnect fails.
 */
export function listenPostgres(url: string, subscriber: Subscriber): Subscription {
  const stopping = new AbortController();
  const over = listenOn(url, subscriber, stopping.signal);
  return {
    async close() {
      stopping.abort();
      await over;
    },
  };
}

async function listenOn(url: string, subscriber: Subscriber, stopping: AbortSignal): Promise<void> {
  const { default: postgres } = await import("postgres");
  for (let backoff = BACKOFF_MS; !stopping.aborted; backoff = Math.min(backoff * 2, BACKOFF_MAX_MS)) {
    const lost = Promise.withResolvers<void>();
    const options = {
      max: 1,
      connect_timeout: CONNECT_TIMEOUT_SECONDS,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      connection: { application_name: "svc-api events" },
      onnotice() {},
      onclose: () => lost.resolve(),
      // missing in the driver's types
      onnotify: (channel: string, payload: string) => {
        if (channel === subscriber.channel) subscriber.onNotice(payload);
      },
    };
    const client = postgres(url, options);
    try {
      await client`listen ${client(subscriber.channel)}`;
      backoff = BACKOFF_MS;
      subscriber.onListening();
      const ping = async () => (await client`select 1`).count === 1;
      while (!stopping.aborted && !(await wait(PROBE_MS, lost.promise, stopping)))
        if (!(await isResponsive(ping))) break;
    } catch {
      // the database is unavailable, which its queries report
    }
    await client.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => {});
    await wait(backoff, null, stopping);
  }
}

/** Waits. @returns whether it was interrupted */
async function wait(ms: number, end: Promise<void> | null, stopping: AbortSignal): Promise<boolean> {
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

async function isResponsive(ping: () => Promise<boolean>): Promise<boolean> {
  return await Promise.race([ping().catch(() => false), Bun.sleep(PROBE_LIMIT_MS).then(() => false)]);
}

/** Listens on the embedded database, which is in this process and always available. */
export function listenEmbedded(client: PGlite, subscriber: Subscriber): Subscription {
  const listening = client.listen(subscriber.channel, subscriber.onNotice).then((end) => {
    subscriber.onListening();
    return end;
  });
  return {
    async close() {
      await (await listening)();
    },
  };
}
