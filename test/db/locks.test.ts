import { afterAll, beforeAll, expect } from "bun:test";
import { sql } from "drizzle-orm";
import { type Database, type Db, openPostgres } from "../../db/client.ts";
import { accounts, changeRequests, projects, users } from "../../db/schema/index.ts";
import { lockProject } from "../../src/features/projects/lock.ts";
import { lockAccount } from "../../src/identity/accounts/lock.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

/** Longer than an insert takes: only one that waits for the lock reaches it. */
const LOCK_LIMIT = "10s";

const real = needs("a real Postgres", POSTGRES);
let made: TestDatabase;
let database: Database;
let other: Database;
let accountId = "";
let projectId = "";
let createdBy = "";

beforeAll(async () => {
  if (!POSTGRES) return;
  made = await createDatabase();
  [database, other] = [await openPostgres(made.url), await openPostgres(made.url)];
  const { db } = database;
  const [user] = await db.insert(users).values({ email: "a@b.c", name: "a" }).returning();
  const [account] = await db.insert(accounts).values({ name: "a", slug: "a" }).returning();
  [accountId, createdBy] = [account?.accountId ?? "", user?.userId ?? ""];
  const [project] = await db
    .insert(projects)
    .values({ accountId, name: "p", slug: "p", defaultBranch: "main" })
    .returning();
  projectId = project?.projectId ?? "";
});
afterAll(async () => {
  await database?.close();
  await other?.close();
  await made?.drop();
});

/** As the opening of one does, which has locked the project's row before. */
async function addChangeRequest(db: Db, number: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local lock_timeout = '${LOCK_LIMIT}'`));
    await tx
      .insert(changeRequests)
      .values({ accountId, projectId, number, title: "t", baseRef: "main", headRef: "work", createdBy });
  });
}

real(
  "opening a change request does not wait for the lock of its account or project: no deadlock",
  async () => {
    await database.db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      await addChangeRequest(other.db, 1);
      await lockProject(tx, projectId);
      await addChangeRequest(other.db, 2);
    });
  },
);

real("one transaction at a time has a lock", async () => {
  const order: string[] = [];
  let second: Promise<void> | null = null;
  await database.db.transaction(async (tx) => {
    await lockAccount(tx, accountId);
    await lockProject(tx, projectId);
    second = other.db.transaction(async (waiting) => {
      await lockAccount(waiting, accountId);
      order.push("second has the account");
      await lockProject(waiting, projectId);
    });
    await until("the second waits", async () => {
      const waiting = sql<boolean>`exists (select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock')`;
      const [row] = await tx.select({ waiting }).from(accounts);
      return row?.waiting === true;
    });
    order.push("first ends");
  });
  await second;
  expect(order).toEqual(["first ends", "second has the account"]);
});
