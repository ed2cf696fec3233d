import { afterAll, beforeAll, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { checks, projects } from "../../db/schema/index.ts";
import { clearChecks } from "../../src/features/checks/own/clear.ts";
import { openSessionRow } from "../helpers/session-row.ts";

let database: Database;
beforeAll(async () => {
  ({ database } = await openSessionRow());
});
afterAll(() => database.close());

test("the newest checks that have ended are kept, and all that have not", async () => {
  const { db } = database;
  const [project] = await db.select().from(projects);
  if (!project) throw new Error("no project");
  const entry = { name: "test", command: "true", timeoutMinutes: 1, secrets: [] };
  const row = (name: string, ended: number | null) => ({
    ...{ projectId: project.projectId, sha: "a".repeat(40), name, entry, headRef: "x" },
    endedAt: ended === null ? null : new Date(ended),
  });
  await db.insert(checks).values([row("open", null), row("c", 3), row("a", 1), row("b", 2)]);
  // none of them has a run, whose end would need more of the server
  await clearChecks({ db } as Parameters<typeof clearChecks>[0], 2);
  const left = await db.select({ name: checks.name }).from(checks).orderBy(asc(checks.name));
  expect(left.map(({ name }) => name)).toEqual(["b", "c", "open"]);
});
