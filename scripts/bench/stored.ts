import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { type Db, openPostgres } from "../../db/client.ts";
import { accounts, projects, users } from "../../db/schema/index.ts";
import type { RuntimePart } from "../../src/conversation/runtime-message.ts";
import type { RuntimeTurn } from "../../src/conversation/runtime-turn.ts";
import { isGrowthDue } from "../../src/features/sessions/conversation/growth.ts";
import { storeTurns } from "../../src/features/sessions/conversation/store.ts";
import { Changes } from "../../src/lib/changes.ts";
import { insertSession } from "../../test/helpers/session-row.ts";
import { startPostgres } from "./postgres.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "stored";
const SESSIONS = 100;
const TURNS = 20;
const PROMPT = 100;
/** Characters of an answer, and how many the agent writes in half a second. */
const ANSWERS = { long: 4_000, short: 1_500, brief: 500 };
const STEP = { characters: 100, ms: 500 };
const BAR = { atMost: 1.2 };
const TABLES = ["conversation_parts", "conversation_turns", "conversations"];

/** Compares the size of stored conversations on Postgres with that of their text, which is that of this folder's docs. */
export async function stored(bench: Workbench): Promise<void> {
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) return bench.report.skip(WHAT, postgres.missing);
  for (const [name, length] of Object.entries(ANSWERS)) {
    const database = await openPostgres(await postgres.createDatabase());
    const { db } = database;
    const sessions = await insertSessions(db, bench.amount(SESSIONS));
    const before = await sizeOf(db);
    const turns = bench.amount(TURNS);
    for (let turn = 0; turn < turns; turn++) {
      await Promise.all(sessions.map((sessionId) => talk(db, sessionId, turn, length)));
      // as autovacuum does every few minutes
      for (const table of TABLES) await db.execute(sql.raw(`vacuum ${table}`));
    }
    const text = sessions.length * turns * (PROMPT + length);
    bench.report.ratio({
      what: `${WHAT}: answers of ${length} characters (${name}), Postgres`,
      unit: "MB",
      ours: ((await sizeOf(db)) - before) / 1e6,
      peer: ["their text", text / 1e6],
      bar: BAR,
    });
    await database.close();
  }
}

async function insertSessions(db: Db, count: number): Promise<string[]> {
  const [user] = await db.insert(users).values({ email: "a@b.c", name: "a" }).returning();
  const [account] = await db.insert(accounts).values({ name: "a", slug: "a" }).returning();
  if (!user || !account) throw new Error("an insert returned no row");
  const { accountId } = account;
  const values = { accountId, name: "p", slug: "p", defaultBranch: "main" };
  const [project] = await db.insert(projects).values(values).returning();
  if (!project) throw new Error("an insert returned no row");
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  for (const sessionId of ids)
    await insertSession(db, {
      ...{ sessionId, accountId },
      projectId: project.projectId,
      createdBy: user.userId,
    });
  return ids;
}

/** One turn: its answer grows, and is stored as often as the server stores it. */
async function talk(db: Db, sessionId: string, turn: number, length: number): Promise<void> {
  const turnId = `msg_${turn}`;
  const store = (turns: RuntimeTurn[], ...parts: RuntimePart[]) =>
    storeTurns(
      { db, changes: new Changes() },
      { sessionId, generation: 1 },
      { turns, parts, open: null },
      (text) => text,
    );
  const part = (partId: string, kind: "prompt" | "text", text: string, isComplete: boolean): RuntimePart => ({
    ...{ partId, turnId, parentId: null, kind, isComplete, text, at: 0 },
    ...{ tool: null, file: null, plan: null, request: null, hasFailed: false, mayLack: false },
  });
  const state = (isDone: boolean): RuntimeTurn => ({
    ...{
      turnId,
      state: isDone ? "done" : "working",
      error: null,
      retry: null,
      model: "a/b",
      tokens: null,
      cost: null,
    },
    ...{ startedAt: 0, endedAt: isDone ? 1 : null },
  });
  const answer = textAt(turn * length, length);
  await store([state(false)], part(`prt_${turn}p`, "prompt", textAt(turn, PROMPT), true));
  let last = { length: 0, ms: 0 };
  for (let step = 1; step * STEP.characters < length; step++) {
    const now = { length: step * STEP.characters, ms: step * STEP.ms };
    if (!isGrowthDue(now.ms - last.ms, now.length, last.length)) continue;
    await store([], part(`prt_${turn}a`, "text", answer.slice(0, now.length), false));
    last = now;
  }
  await store([state(true)], part(`prt_${turn}a`, "text", answer, true));
}

const DOCS = join(import.meta.dir, "../../docs");
const PROSE = readdirSync(DOCS)
  .filter((name) => name.endsWith(".md"))
  .map((name) => readFileSync(join(DOCS, name), "utf8").replace(/[^\x20-\x7e\n]/g, " "))
  .join("\n");

/** English as agents write it, with code. */
export function textAt(at: number, length: number): string {
  const from = at % (PROSE.length - length);
  return PROSE.slice(from, from + length);
}

/** Bytes of all conversations in a database, with indexes. */
export async function sizeOf(db: Db): Promise<number> {
  const [row] = await db
    .select({
      bytes: sql<number>`(select sum(pg_total_relation_size(c))::float8 from unnest(${sql.raw(
        `array['${TABLES.join("','")}']`,
      )}::regclass[]) c)`,
    })
    .from(sql`(select 1) as one`);
  return row?.bytes ?? 0;
}
