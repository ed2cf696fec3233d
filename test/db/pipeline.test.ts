import { expect } from "bun:test";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);

/** Around the number of queries that fill the pipelines of the pool: 5 connections, 100 queries each. */
const QUERIES = Array.from({ length: 24 }, (_, index) => 490 + index);

// The driver is patched for this (patches/postgres@3.4.9.patch): a BEGIN that filled a connection's pipeline did not
// reserve it (porsager/postgres#823). The transaction failed, stayed open, and later queries ran inside it.
test("a transaction that starts behind any number of queries has a connection to itself", async () => {
  const database = await createDatabase();
  const { db, close } = await openPostgres(database.url);
  const id = sql`select pg_backend_pid() as pid, pg_current_xact_id()::text as xid`;
  try {
    for (const queries of QUERIES) {
      // queries are sent when they are awaited
      const before = Array.from({ length: queries }, async (_, index) => {
        await db.execute(index < 5 ? sql`select pg_sleep(0.05)` : sql`select 1`);
      });
      await new Promise(setImmediate);
      const transactions = Array.from({ length: 10 }, () =>
        db.transaction(async (tx) => [await tx.execute(id), await tx.execute(id)]),
      );
      const outcomes = await Promise.allSettled(transactions);
      await Promise.all(before);
      expect({ queries, outcomes: outcomes.map(({ status }) => status) }).toEqual({
        queries,
        outcomes: Array(10).fill("fulfilled"),
      });
      for (const outcome of outcomes) {
        const [first, second] = outcome.status === "fulfilled" ? outcome.value : [];
        expect(JSON.stringify(second)).toBe(JSON.stringify(first));
      }
    }
    const open = sql`pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    expect(await db.select({ pid: sql<number>`pid` }).from(open)).toEqual([]);
  } finally {
    await close();
    await database.drop();
  }
});
