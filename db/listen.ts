import type { PGlite } from "@electric-sql/pglite";

/** What is heard on a channel of Postgres' LISTEN. */
export interface Listening {
  close(): Promise<void>;
}

export interface Ears {
  channel: string;
  onNotice(payload: string): void;
  /** Called each time that listening begins: what was said before was not heard. */
  onListening(): void;
}

const CONNECT_TIMEOUT_SECONDS = 10;
const CLOSE_TIMEOUT_SECONDS = 1;
/** The first pause before a new connection; it doubles up to the last one. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;
/** A connection that has gone away in silence is found out after this long. */
const PROBE_MS = 15_000;
const PROBE_LIMIT_MS = 10_000;

/**
 * Listens on a connection of its own, which is made anew whenever it is lost: the driver's own `listen` gives up when
 * the database is still away at its first try.
 */
export function listenPostgres(url: string, ears: Ears): Listening {
  const stopping = new AbortController();
  const over = listenOn(url, ears, stopping.signal);
  return {
    async close() {
      stopping.abort();
      await over;
    },
  };
}

async function listenOn(url: string, ears: Ears, stopping: AbortSignal): Promise<void> {
  const { default: postgres } = await import("postgres");
  for (let pause = FIRST_PAUSE_MS; !stopping.aborted; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
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
      // the driver knows it, its types do not
      onnotify: (channel: string, payload: string) => {
        if (channel === ears.channel) ears.onNotice(payload);
      },
    };
    const client = postgres(url, options);
    try {
      await client`listen ${client(ears.channel)}`;
      pause = FIRST_PAUSE_MS;
      ears.onListening();
      const isAlive = async () => (await client`select 1`).count === 1;
      while (!stopping.aborted && !(await passed(PROBE_MS, lost.promise, stopping)))
        if (!(await answers(isAlive))) break;
    } catch {
      // the database is away: whoever asks it something else says so
    }
    await client.end({ timeout: CLOSE_TIMEOUT_SECONDS }).catch(() => {});
    await passed(pause, null, stopping);
  }
}

/** Waits. @returns whether it was ended before the time had passed */
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

/** Listens on the embedded database, which is in this process and never away. */
export function listenEmbedded(client: PGlite, ears: Ears): Listening {
  const listening = client.listen(ears.channel, ears.onNotice).then((end) => {
    ears.onListening();
    return end;
  });
  return {
    async close() {
      await (await listening)();
    },
  };
}
