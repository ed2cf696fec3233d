import { and, eq, inArray, isNull, ne, or, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database, Db } from "../../db/client.ts";
import { runs, servers } from "../../db/schema/index.ts";
import { LIVE_STATUSES } from "../contract/session.ts";

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
 * Writes this server's heartbeat, now and periodically while another server may read it; with the embedded database only
 * once, since there is no other.
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
      if (await needsHeartbeat(server)) await beat(server);
      return true;
    } catch (error) {
      if (!isStopped) server.log.warn({ err: error }, "cannot write this server's heartbeat");
      return false;
    }
  }
}

/**
 * Whether a heartbeat means anything: to other servers, to one that finds this server's runs later, or after this server
 * was marked as gone. A server that starts finds old heartbeats and watches for minutes before it declares another gone;
 * the other writes again as soon as it finds the new row.
 */
export async function needsHeartbeat({ db, serverId }: Registered): Promise<boolean> {
  const isThere = and(isNull(servers.goneAt), eq(servers.id, serverId));
  const isOther = and(isNull(servers.goneAt), ne(servers.id, serverId));
  const found = await db
    .select({ id: servers.id })
    .from(servers)
    .leftJoin(runs, and(eq(runs.place, servers.id), inArray(runs.status, [...LIVE_STATUSES])))
    .where(or(isOther, and(isThere, isNull(runs.runId))))
    .limit(2);
  return found.length !== 1 || found[0]?.id !== serverId;
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
