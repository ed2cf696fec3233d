import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { channels, channelTasks } from "../../db/schema/index.ts";
import { trimTasks } from "../../src/features/channels/tasks.ts";
import { insertProject } from "../helpers/event-project.ts";
import { openDatabase } from "../helpers/postgres.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

const NOW = new Date("2026-11-24T12:00:00Z");
const DAY_MS = 86_400_000;

test("keys of what was done are kept for a week, and what is to do for as long as it takes", async () => {
  const { db } = database;
  const channelId = randomUUID();
  const names = { teamId: "T1", teamName: "Team", appId: "A1", botUserId: "U1", room: "" };
  const sealed = { botToken: "x", signingSecret: "x" };
  const projectId = await insertProject(db);
  await db.insert(channels).values({ channelId, projectId, kind: "slack", ...names, ...sealed });
  const task = (key: string, ageMs: number, dueAt: Date | null) => ({
    ...{ channelId, key, kind: "message" as const, dueAt },
    createdAt: new Date(NOW.getTime() - ageMs),
  });
  await db
    .insert(channelTasks)
    .values([
      task("recent", 7 * DAY_MS - 1, null),
      task("old", 7 * DAY_MS + 1, null),
      task("waits", 30 * DAY_MS, NOW),
    ]);
  // more than one statement removes
  await db.execute(sql`insert into channel_tasks (channel_id, key, kind, created_at)
    select ${channelId}::uuid, 'old ' || n, 'click'::channel_task_kind, ${new Date(0).toISOString()}::timestamptz
    from generate_series(1, 2500) as n`);
  await trimTasks({ db, databaseTime: async () => NOW });
  const left = await db.select({ key: channelTasks.key }).from(channelTasks);
  expect(left.map(({ key }) => key).sort()).toEqual(["recent", "waits"]);
});
