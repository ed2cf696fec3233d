import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { databaseErrorCode } from "../../db/errors.ts";
import { accounts, changeRequests, projects, runs, tokens, users } from "../../db/schema/index.ts";
import { openDatabase } from "../helpers/postgres.ts";
import { insertSession } from "../helpers/session-row.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

/** A project with a user, a session and a change request that the session opened. */
async function setUp() {
  const { db } = database;
  const id = () => crypto.randomUUID();
  const [userId, accountId, projectId, sessionId, crId] = [id(), id(), id(), id(), id()];
  await db.insert(users).values({ userId, email: `${userId}@example.com`, name: "u" });
  await db.insert(accounts).values({ accountId, name: "a", slug: accountId });
  await db.insert(projects).values({
    projectId,
    accountId,
    name: "p",
    slug: projectId,
    repoUrl: "https://h/x",
    defaultBranch: "main",
  });
  await insertSession(db, { sessionId, projectId, accountId, createdBy: userId });
  const cr = {
    crId,
    accountId,
    projectId,
    number: 1,
    title: "t",
    baseRef: "main",
    headRef: "work",
    originSessionId: sessionId,
    createdBy: userId,
  };
  await db.insert(changeRequests).values(cr);
  const read = async () => (await db.select().from(changeRequests).where(eq(changeRequests.crId, crId)))[0];
  return { db, userId, accountId, projectId, sessionId, cr, read };
}

/** The SQLSTATE with which the database refuses. */
async function refusal(work: PromiseLike<unknown>): Promise<unknown> {
  try {
    await work;
    return "accepted";
  } catch (error) {
    return databaseErrorCode(error);
  }
}

test("a change request has the columns of spec 2.1, their types and defaults, and those for reviews, merges and checks", async () => {
  const columns = await database.db
    .select({
      row: sql<string>`column_name || ' ' || udt_name || case is_nullable when 'YES' then ' null' else '' end`,
    })
    .from(sql`information_schema.columns`)
    .where(sql`table_name = 'change_requests'`);
  expect(columns.map(({ row }) => row).sort()).toEqual(
    [
      "cr_id uuid",
      "account_id uuid",
      "project_id uuid",
      "reverts int4 null",
      "number int4",
      "title text",
      "draft bool",
      "description text",
      "base_ref text",
      "head_ref text",
      "status cr_status",
      "head_commit_sha text null",
      "base_commit_sha text null",
      "origin_session_id text null",
      "created_by uuid",
      "created_actor jsonb null",
      "merged_at timestamptz null",
      "merged_by uuid null",
      "merged_actor jsonb null",
      "merge_commit_sha text null",
      "closed_at timestamptz null",
      "closed_by uuid null",
      "closed_actor jsonb null",
      "metadata jsonb",
      "created_at timestamptz",
      "updated_at timestamptz",
      "opened_by_agent bool",
      "last_comment_number int4",
      "merge_method merge_method null",
      "checked_sha text null",
      "owners_sha text null",
    ].sort(),
  );
  const { read } = await setUp();
  expect(await read()).toMatchObject({
    description: "",
    status: "open",
    metadata: {},
    createdAt: expect.any(Date),
  });
});

test("a change request has the indexes of spec 2.1", async () => {
  const found = await database.db
    .select({ definition: sql<string>`indexdef` })
    .from(sql`pg_indexes`)
    .where(sql`tablename = 'change_requests'`);
  const all = found.map(({ definition }) => definition).join("\n");
  for (const columns of ["(account_id)", "(project_id)", "(project_id, status)"])
    expect(all).toContain(`btree ${columns}`);
  expect(all).toMatch(/UNIQUE INDEX \S+ ON \S+ USING btree \(project_id, number\)/);
});

test("deleting its session keeps a change request and nulls the link", async () => {
  const { db, sessionId, read } = await setUp();
  await db.delete(runs).where(eq(runs.runId, sessionId));
  expect((await read())?.originSessionId).toBeNull();
});

test("deleting its project deletes a change request", async () => {
  const { db, projectId, read } = await setUp();
  await db.delete(projects).where(eq(projects.projectId, projectId));
  expect(await read()).toBeUndefined();
});

test("a session's token ends with the session, a project's with the project", async () => {
  const { db, userId, projectId, sessionId } = await setUp();
  const mint = (values: { sessionId?: string }) =>
    db.insert(tokens).values({ userId, projectId, name: "t", hash: crypto.randomUUID(), ...values });
  const left = () => db.$count(tokens, eq(tokens.projectId, projectId));
  await mint({ sessionId });
  await mint({});
  await db.delete(runs).where(eq(runs.runId, sessionId));
  expect(await left()).toBe(1);
  await db.delete(projects).where(eq(projects.projectId, projectId));
  expect(await left()).toBe(0);
});

test("constraints enforce the rules", async () => {
  const { db, cr, userId } = await setUp();
  const insert = (changes: object) =>
    refusal(db.insert(changeRequests).values({ ...cr, crId: crypto.randomUUID(), number: 2, ...changes }));
  const CHECK = "23514";
  expect(await insert({})).toBe("accepted");
  expect(await insert({ number: 1 })).toBe("23505");
  expect(await insert({ number: 3, title: "" })).toBe(CHECK);
  expect(await insert({ number: 3, headRef: "main" })).toBe(CHECK);
  expect(await insert({ number: 3, status: "merged" })).toBe(CHECK);
  expect(await insert({ number: 3, status: "closed" })).toBe(CHECK);
  expect(await insert({ number: 3, closedAt: new Date() })).toBe(CHECK);
  expect(await insert({ number: 3, originSessionId: "nobody's" })).toBe("23503");
  expect(await refusal(db.insert(users).values({ email: "UPPER@example.com", name: "u" }))).toBe(CHECK);
  expect(
    await refusal(db.insert(tokens).values({ userId, name: "t", hash: "h", sessionId: cr.originSessionId })),
  ).toBe(CHECK);
});

test("the committed migrations match the schema, in increasing order", () => {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync("db/migrations/meta/_journal.json", "utf8"),
  );
  const times = journal.entries.map((entry) => entry.when);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const copy = mkdtempSync(join(tmpdir(), "svc-migrations-"));
  try {
    cpSync("db/migrations", copy, { recursive: true });
    const before = readdirSync(copy);
    const made = Bun.spawnSync([
      process.execPath,
      "x",
      "drizzle-kit",
      "generate",
      "--dialect=postgresql",
      "--schema=./db/schema/*.ts",
      `--out=${copy}`,
    ]);
    expect([made.exitCode, readdirSync(copy)]).toEqual([0, before]);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
