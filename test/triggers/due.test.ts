import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import pino from "pino";
import type { Database } from "../../db/client.ts";
import { projectEvents, projectSessions, projects, triggerFirings, triggers } from "../../db/schema/index.ts";
import { WAITING_MAX } from "../../src/contract/trigger.ts";
import { writeDue } from "../../src/features/triggers/due.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { openSessionRow } from "../helpers/session-row.ts";

let database: Database;
let one: typeof projects.$inferSelect;
let two: typeof projects.$inferSelect;

beforeAll(async () => {
  const { database: opened, sessionId } = await openSessionRow();
  database = opened;
  const [row] = await database.db
    .select({ project: projects })
    .from(projects)
    .innerJoin(projectSessions, eq(projectSessions.projectId, projects.projectId))
    .where(eq(projectSessions.sessionId, sessionId));
  if (!row) throw new Error("there is no project");
  one = row.project;
  const { accountId } = one;
  const values = { accountId, name: "q", slug: "q", defaultBranch: "trunk" };
  const [other] = await database.db.insert(projects).values(values).returning();
  if (!other) throw new Error("there is no other project");
  two = other;
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.db.delete(triggers);
  await database.db.delete(projectEvents);
});

const at = (time: string | null) => (time === null ? null : new Date(`2026-03-${time}Z`));
const writeAt = (now: string) =>
  writeDue({
    db: database.db,
    databaseTime: async () => new Date(`2026-03-${now}Z`),
    log: pino({ level: "silent" }),
  });

async function add(
  slug: string,
  {
    cron = "0 9 * * *",
    next = "02T09:00:00",
    project = one,
  }: { cron?: string | null; next?: string | null; project?: typeof one } = {},
): Promise<string> {
  const [row] = await database.db
    .insert(triggers)
    .values({
      projectId: project.projectId,
      slug,
      position: 0,
      type: cron === null ? "webhook" : "cron",
      prompt: `{{ project.default_branch }} at {{ due_at }}`,
      enabled: true,
      cron,
      timezone: "UTC",
      nextFireAt: at(next),
    })
    .returning();
  return row?.triggerId ?? "";
}

const short = (time: Date | null) => time?.toISOString().replace(/^2026-03-|\.000Z$/g, "") ?? null;
const nextOf = async (triggerId: string) => {
  const [row] = await database.db.select().from(triggers).where(eq(triggers.triggerId, triggerId));
  return short(row?.nextFireAt ?? null);
};
const firingsOf = (triggerId: string) =>
  database.db
    .select()
    .from(triggerFirings)
    .where(eq(triggerFirings.triggerId, triggerId))
    .orderBy(triggerFirings.seq);
const told = async (triggerId: string) =>
  (await firingsOf(triggerId)).map(({ state, dueAt, dueUntil }) =>
    [state, short(dueAt), short(dueUntil)].filter(Boolean).join(" "),
  );

describe("of the past due times the last fires if it is at most an hour old; the others are missed", () => {
  const HOURLY = "0 * * * *";
  const DAILY = "0 9 * * *";
  test.each<[cron: string, now: string, firings: string[], next: string]>([
    [DAILY, "02T08:59:59", [], "02T09:00:00"],
    [DAILY, "02T09:00:00", ["waiting 02T09:00:00"], "03T09:00:00"],
    [DAILY, "02T10:00:00", ["waiting 02T09:00:00"], "03T09:00:00"],
    [DAILY, "02T10:00:01", ["missed 02T09:00:00 02T09:00:00"], "03T09:00:00"],
    [DAILY, "03T08:59:59", ["missed 02T09:00:00 02T09:00:00"], "03T09:00:00"],
    [DAILY, "03T09:00:00", ["missed 02T09:00:00 02T09:00:00", "waiting 03T09:00:00"], "04T09:00:00"],
    [DAILY, "04T09:30:00", ["missed 02T09:00:00 03T09:00:00", "waiting 04T09:00:00"], "05T09:00:00"],
    [DAILY, "04T12:00:00", ["missed 02T09:00:00 04T09:00:00"], "05T09:00:00"],
    [HOURLY, "02T09:59:59", ["waiting 02T09:00:00"], "02T10:00:00"],
    [HOURLY, "02T10:00:00", ["missed 02T09:00:00 02T09:00:00", "waiting 02T10:00:00"], "02T11:00:00"],
    [HOURLY, "02T12:59:59", ["missed 02T09:00:00 02T11:00:00", "waiting 02T12:00:00"], "02T13:00:00"],
  ])("%s, which was to be due on 02T09:00:00, at %s: %j", async (cron, now, firings, next) => {
    const triggerId = await add("t", { cron });
    expect(await writeAt(now)).toBe(Math.sign(firings.length));
    expect([await told(triggerId), await nextOf(triggerId)]).toEqual([firings, next]);
  });

  test("a waiting firing has a session and a prompt; a missed one has ended, and has neither", async () => {
    const triggerId = await add("t");
    await writeAt("03T09:30:00");
    const over = { endedAt: at("03T09:30:00"), sessionId: null, prompt: null };
    const waits = {
      endedAt: null,
      sessionId: expect.any(String),
      prompt: "main at 2026-03-03T09:00:00.000Z",
    };
    expect(await firingsOf(triggerId)).toMatchObject([over, waits]);
  });

  test("if too many wait it is skipped, and has ended", async () => {
    const triggerId = await add("t");
    const { projectId, accountId } = one;
    const state = "waiting" as const;
    const [source, dueAt] = ["manual" as const, new Date()];
    const waiting = Array.from({ length: WAITING_MAX }, (_, key) => ({
      key: `${key}`,
      state,
      source,
      dueAt,
    }));
    const ofAll = { triggerId: await add("full", { next: null }), projectId, accountId, createdAt: dueAt };
    await database.db.insert(triggerFirings).values(waiting.map((firing) => ({ ...firing, ...ofAll })));
    await writeAt("02T09:30:00");
    expect(await firingsOf(triggerId)).toMatchObject([
      {
        state: "skipped",
        endedAt: at("02T09:30:00"),
        prompt: null,
        error: expect.stringContaining("Too many"),
      },
    ]);
  });
});

test("each due trigger is announced in its own project; no other is changed", async () => {
  const ids = await Promise.all([
    add("one"),
    add("two", { project: two }),
    add("later", { next: "02T09:30:01" }),
    add("hook", { cron: null, next: null }),
    add("never", { next: null }),
  ]);
  expect(await writeAt("02T09:30:00")).toBe(2);
  const written = await Promise.all(ids.map(firingsOf));
  expect(written.map((firings) => firings.map(({ projectId, prompt }) => [projectId, prompt]))).toEqual([
    [[one.projectId, "main at 2026-03-02T09:00:00.000Z"]],
    [[two.projectId, "trunk at 2026-03-02T09:00:00.000Z"]],
    [],
    [],
    [],
  ]);
  expect(await Promise.all(ids.map(nextOf))).toEqual([
    "03T09:00:00",
    "03T09:00:00",
    "02T09:30:01",
    null,
    null,
  ]);
  const events = await database.db.select().from(projectEvents);
  expect(new Set(events.map(({ projectId, subject }) => `${projectId} ${subject}`))).toEqual(
    new Set([`${one.projectId} one`, `${two.projectId} two`]),
  );
});

test("a schedule without times does not stop the others, and is reported", async () => {
  const [broken, good] = [await add("broken", { cron: "when it rains" }), await add("good")];
  expect(await writeAt("02T09:30:00")).toBe(2);
  expect([await told(broken), await nextOf(broken)]).toEqual([[], null]);
  expect(await told(good)).toEqual(["waiting 02T09:00:00"]);
  const [row] = await database.db.select().from(triggers).where(eq(triggers.triggerId, broken));
  expect(row?.lastError).toContain('"when it rains"');
});

needs("a real Postgres", POSTGRES)(
  "skips a trigger that another server handles, without a wait",
  async () => {
    const [theirs, free] = [await add("theirs"), await add("free")];
    await database.db.transaction(async (tx) => {
      await tx.select().from(triggers).where(eq(triggers.triggerId, theirs)).for("no key update");
      expect(await writeAt("02T09:30:00")).toBe(1);
    });
    expect([await told(theirs), await told(free)]).toEqual([[], ["waiting 02T09:00:00"]]);
  },
);
