import type { SQL } from "drizzle-orm";
import type { Db } from "./client.ts";

/** Runs a statement that drizzle has no builder for. @returns its rows, which the two drivers return differently */
export async function rowsOf(db: Db, statement: SQL): Promise<unknown[]> {
  const result: unknown = await db.execute(statement);
  if (Array.isArray(result)) return result;
  const rows: unknown = Reflect.get(Object(result), "rows");
  return Array.isArray(rows) ? rows : [];
}
