import { and, eq, isNotNull, isNull, ne, notExists, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { runs, servers } from "../../db/schema/index.ts";
import { type Registered, STEADY_S } from "./heartbeat.ts";
import { isWithinReach, queuesOfPlace } from "./places.ts";
import type { Jobs } from "./queue.ts";

/**
 * A server without a heartbeat for this long is considered gone: a restart, a database failover and most network failures
 * are over by then.
 */
const GONE_S = 300;
/** A server that was reinstalled has another id, so the old row is useless. */
const FORGET_DAYS = 30;

/**
 * Marks servers as gone whose heartbeat is too old. A server whose own heartbeat had a gap in that time marks none: after
 * a database outage all heartbeats are old. With the embedded database there is no other server.
 * @returns the servers marked now, with the times of their last heartbeats
 */
export async function declareGone(server: Registered): Promise<{ id: string; seenAt: Date }[]> {
  const { db, databaseKind, serverId } = server;
  const isSilent = sql`${servers.seenAt} < now() - make_interval(secs => ${GONE_S})`;
  const hasWatched = sql`exists (
    select from servers as me where me.id = ${serverId}
      and me.steady_since < now() - make_interval(secs => ${GONE_S})
      and me.seen_at > now() - make_interval(secs => ${STEADY_S}))`;
  return await db
    .update(servers)
    .set({ goneAt: sql`now()` })
    .where(
      and(
        ne(servers.id, serverId),
        isNull(servers.goneAt),
        ...(databaseKind === "embedded" ? [] : [isSilent, hasWatched]),
      ),
    )
    .returning({ id: servers.id, seenAt: servers.seenAt });
}

/**
 * When the server at a place sent its last heartbeat, if it is gone; null when it may be alive. The row stays locked until
 * the transaction ends: a server that comes back waits for it.
 */
export async function goneSince(
  server: Pick<Registered, "serverId">,
  tx: Db,
  place: string,
): Promise<Date | null> {
  if (isWithinReach(server, { place })) return null;
  const [gone] = await tx
    .select({ seenAt: servers.seenAt })
    .from(servers)
    .where(and(eq(servers.id, place), isNotNull(servers.goneAt)))
    .for("share");
  return gone?.seenAt ?? null;
}

/** Deletes servers that are long gone and have no sessions left, with their queues. */
export async function forgetServers({ db, jobs }: { db: Db; jobs: Jobs }): Promise<void> {
  const isForgotten = and(
    isNotNull(servers.goneAt),
    sql`${servers.seenAt} < now() - make_interval(days => ${FORGET_DAYS})`,
    notExists(db.select().from(runs).where(eq(runs.place, servers.id))),
  );
  for (const { id } of await db.select({ id: servers.id }).from(servers).where(isForgotten)) {
    await db.transaction(async (tx) => {
      const [forgotten] = await tx
        .delete(servers)
        .where(and(eq(servers.id, id), isForgotten))
        .returning();
      // a server that comes back now waits for the row, and creates its queues afterwards
      if (forgotten) for (const queue of queuesOfPlace(id)) await jobs.remove(queue);
    });
  }
}
