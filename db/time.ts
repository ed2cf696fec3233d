import { sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { servers } from "./schema/index.ts";

/** The time by the database's own clock; in a transaction, that of its beginning. */
export async function databaseTime(db: Db): Promise<Date> {
  const [row] = await db.select({ now: sql`now()`.mapWith(servers.seenAt) }).from(sql`(select) as nothing`);
  if (!row) throw new Error("the database tells no time");
  return row.now;
}
