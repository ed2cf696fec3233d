import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { connectorCalls, projects, users } from "../../db/schema/index.ts";
import { recordCall } from "../../src/features/connectors/record.ts";
import { insertProject } from "../helpers/event-project.ts";
import { openDatabase } from "../helpers/postgres.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

test("the record keeps the last 1,000 calls of each project", async () => {
  const { db } = database;
  const [own, other] = [await insertProject(db), await insertProject(db)];
  for (const projectId of [own, other])
    await db.execute(sql`insert into connector_calls (project_id, connector, tool, action, outcome)
      select ${projectId}::uuid, 'hub', 'old ' || n, 'allow'::policy_action, 'ok'::connector_outcome from generate_series(1, 1200) as n`);
  const [project] = await db.select().from(projects).where(eq(projects.projectId, own));
  if (!project) throw new Error("no project");
  const [user] = await db.insert(users).values({ email: "trim@example.com", name: "trim" }).returning();
  const caller = { kind: "user", userId: user?.userId ?? "", tokenId: null, expiresAt: null } as const;
  const call = { connector: "hub", tool: "new", action: "allow", outcome: "running" } as const;
  await recordCall({ db, clock: () => new Date() }, caller, project, call);
  const count = (projectId: string) => db.$count(connectorCalls, eq(connectorCalls.projectId, projectId));
  expect([await count(own), await count(other)]).toEqual([1_000, 1_200]);
  expect(await db.$count(connectorCalls, eq(connectorCalls.tool, "new"))).toBe(1);
});
