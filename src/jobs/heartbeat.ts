import { sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database, Db } from "../../db/client.ts";
import { servers } from "../../db/schema/index.ts";

/** A tenth of the time after which a server is considered gone. */
const BEAT_MS = 30_000;
/** After a heartbeat that failed. */
const RETRY_MS = 2_000;
/** The next heartbeat uses another connection than one that hangs. */
const BEAT_LIMIT_MS = 10_000;
/** A server without heartbeats for this long, four intervals, was not watching the others. */
export const STEADY_S = 120;

/** A server and its database. */
export interface Registered {
  db: Db;
  databaseKind: Database["kind"];
  serverId: string;
}

/**
 * Writes this server's heartbeat, now and periodically; with the embedded database only once, since no other server
 * reads it.
 * @returns stops it
 */
export async function startHeartbeat(
  server: Registered & { log: Logger },
  { beatMs = BEAT_MS, retryMs = RETRY_MS } = {},
): Promise<() => void> {
  await beat(server);
  if (server.databaseKind === "embedded") return () => {};
  let isStopped = false;
  let timer = setTimeout(repeat, beatMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };

  async function repeat(): Promise<void> {
    const isWritten = await Promise.race([written(), Bun.sleep(BEAT_LIMIT_MS).then(() => false)]);
    if (!isStopped) timer = setTimeout(repeat, isWritten ? beatMs : retryMs);
  }

  async function written(): Promise<boolean> {
    try {
      await beat(server);
      return true;
    } catch (error) {
      if (!isStopped) server.log.warn({ err: error }, "cannot write this server's heartbeat");
      return false;
    }
  }
}

async function beat({ db, serverId, log }: Registered & { log: Logger }): Promise<void> {
  const wasAway = sql`${servers.seenAt} < now() - make_interval(secs => ${STEADY_S})`;
  const [before] = await db
    .insert(servers)
    .values({ id: serverId })
    .onConflictDoUpdate({
      target: servers.id,
      set: {
        seenAt: sql`now()`,
        goneAt: null,
        steadySince: sql`case when ${wasAway} then now() else ${servers.steadySince} end`,
      },
    })
    // the value before the update
    .returning({ goneAt: sql`(select before.gone_at from servers as before where before.id = ${serverId})` });
  if (before?.goneAt)
    log.warn(
      { goneAt: before.goneAt },
      "this server was marked as gone: others have taken over its sessions",
    );
}
