import { sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database, Db } from "../../db/client.ts";
import { servers } from "../../db/schema/index.ts";

/** A tenth of the silence after which a server counts as gone: one that lives has many tries. */
const BEAT_MS = 30_000;
/** A server that was cut off is back within this long after the database is. */
const RETRY_MS = 2_000;
/** A connection that hangs is not waited for: the next beat takes another. */
const BEAT_LIMIT_MS = 10_000;
/** Whoever was away for this long, which is four beats, has not watched the others meanwhile. */
export const STEADY_S = 120;

/** A server on its database. */
export interface Registered {
  db: Db;
  databaseKind: Database["kind"];
  serverId: string;
}

/**
 * Writes down that this server lives, at once and from then on. The embedded database has no other server to read it:
 * there it is written once.
 * @returns ends it
 */
export async function keepHeartbeat(
  server: Registered & { log: Logger },
  { beatMs = BEAT_MS, retryMs = RETRY_MS } = {},
): Promise<() => void> {
  await beat(server);
  if (server.databaseKind === "embedded") return () => {};
  let isStopped = false;
  let timer = setTimeout(again, beatMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };

  async function again(): Promise<void> {
    const isWritten = await Promise.race([written(), Bun.sleep(BEAT_LIMIT_MS).then(() => false)]);
    if (!isStopped) timer = setTimeout(again, isWritten ? beatMs : retryMs);
  }

  async function written(): Promise<boolean> {
    try {
      await beat(server);
      return true;
    } catch (error) {
      if (!isStopped) server.log.warn({ err: error }, "this server could not write down that it lives");
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
    // of the row as it was
    .returning({ goneAt: sql`(select before.gone_at from servers as before where before.id = ${serverId})` });
  if (before?.goneAt)
    log.warn({ goneAt: before.goneAt }, "this server counted as gone: others have taken its sessions");
}
