import { sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { servers } from "./schema/index.ts";

/** The time by the database's clock; in a transaction, the time of its start. */
export async function databaseTime(db: Db): Promise<Date> {
  const [row] = await db.select({ now: sql`now()`.mapWith(servers.seenAt) }).from(sql`(select) as nothing`);
  if (!row) throw new Error("the database returned no time");
  return row.now;
}
