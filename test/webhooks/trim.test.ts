import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { webhookDeliveries, webhooks } from "../../db/schema/index.ts";
import { trimDeliveries } from "../../src/features/webhooks/trim.ts";
import { insertProject } from "../helpers/event-project.ts";
import { openDatabase } from "../helpers/postgres.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

test("the log keeps the last 200 ended deliveries of a webhook for 14 days, and all that wait", async () => {
  const { db } = database;
  const projectId = await insertProject(db);
  const webhookId = crypto.randomUUID();
  await db
    .insert(webhooks)
    .values({ webhookId, projectId, url: "sealed", secret: "sealed", events: [], format: "json" });
  const add = (status: string, count: number, days: number) =>
    db.execute(sql`insert into webhook_deliveries (webhook_id, event_id, type, payload, status, created_at)
      select ${webhookId}, gen_random_uuid(), 'x', '{}', ${status}::delivery_status, now() - make_interval(days => ${days}::int)
      from generate_series(1, ${count}::int)`);
  await add("pending", 300, 20);
  await add("failed", 10, 13);
  await add("delivered", 195, 0);
  await add("delivered", 3, 15);
  await trimDeliveries({ db });
  const kept = async (status: "pending" | "failed" | "delivered") =>
    await db.$count(webhookDeliveries, sql`${webhookDeliveries.status} = ${status}::delivery_status`);
  // of 208 ended ones the newest 200, without 3 that are too old
  expect([await kept("pending"), await kept("failed"), await kept("delivered")]).toEqual([300, 2, 195]);
});
