import { eq, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { servers } from "../../db/schema/index.ts";
import { readServerId } from "../../src/data-folder.ts";

/** What a server wrote into the database, by the database's clock, as if it were some seconds earlier. */
export interface Ages {
  seen?: number;
  steady?: number;
  gone?: number | null;
}

/** Sets the time of a server's heartbeat, so that tests do not wait for minutes. */
export async function setServer(db: Db, id: string, { seen, steady, gone }: Ages): Promise<void> {
  const ago = (seconds: number) => sql`now() - make_interval(secs => ${seconds})`;
  const ages = {
    ...(seen !== undefined && { seenAt: ago(seen) }),
    ...(steady !== undefined && { steadySince: ago(steady) }),
    ...(gone !== undefined && { goneAt: gone === null ? null : ago(gone) }),
  };
  await db
    .insert(servers)
    .values({ id, ...ages })
    .onConflictDoUpdate({ target: servers.id, set: ages });
}

/** One server falls silent for too long, and another, which has watched for long enough, is to find that out. */
export async function silence(db: Db, dataDir: { of: string; watchedFrom: string }): Promise<void> {
  await setServer(db, readServerId(dataDir.watchedFrom), { steady: 600 });
  await setServer(db, readServerId(dataDir.of), { seen: 360 });
}

export async function isGone(db: Db, id: string): Promise<boolean> {
  const [server] = await db.select().from(servers).where(eq(servers.id, id));
  return server !== undefined && server.goneAt !== null;
}
