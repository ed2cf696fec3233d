import { and, eq, isNotNull, isNull, ne, notExists, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { runs, servers } from "../../db/schema/index.ts";
import { type Registered, STEADY_S } from "./heartbeat.ts";
import { isWithinReach, queuesOfPlace } from "./places.ts";
import type { Jobs } from "./queue.ts";

/**
 * A server that has been silent for this long does not come back by itself: a restart, a move of the database and most
 * faults of a network are over by then, and nobody's session should wait longer.
 */
const GONE_S = 300;
/** A server that was set up anew has another id; what the old one leaves is of no use to anybody. */
const FORGET_DAYS = 30;

/**
 * Counts the servers as gone that have been silent for too long. Who has not watched all the while says nothing: after
 * an outage of the database everybody has been silent. On the embedded database there can be no other server at all.
 * @returns those that were not counted as gone before, with when they were last heard of
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
 * When a place was last heard of whose server is gone; null when its server may live. In a transaction it stays so until
 * that ends: a server that comes back waits for it.
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

/** Forgets the servers that are long gone and have no sessions left, and what waits in their queues. */
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
      // one that comes back in this moment waits for the row, and makes its queues only then
      if (forgotten) for (const queue of queuesOfPlace(id)) await jobs.remove(queue);
    });
  }
}
