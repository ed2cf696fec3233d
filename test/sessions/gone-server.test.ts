import { afterAll, beforeAll, describe, expect } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { PgBoss } from "pg-boss";
import { type Database, openPostgres } from "../../db/client.ts";
import { runs, servers, sessionSandboxes, tokens } from "../../db/schema/index.ts";
import type { Session } from "../../src/contract/session.ts";
import { readServerId } from "../../src/data-folder.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { generator, pick, SEED, share } from "../helpers/random.ts";
import { isGone, setServer } from "../helpers/servers.ts";
import { changeRun, insertSession } from "../helpers/session-row.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

type Row = typeof runs.$inferSelect;
type State = readonly [status: Row["status"], goal: Row["goal"]];
type Verb = "stop" | "restart" | "delete";

/** All that a session can be when its server is lost. */
const STATES: readonly State[] = [
  ...(["provisioning", "running"] as const).flatMap((status) =>
    (["running", "stopped", "deleted"] as const).map((goal) => [status, goal] as const),
  ),
  ["stopped", "stopped"],
  ["stopped", "deleted"],
  ["failed", "running"],
  ["failed", "deleted"],
];

/** States for which the same applies: each pair differs only in the status. */
const kindOf = ([status, goal]: State) =>
  isUp(status) ? `up, ${goal}` : goal === "deleted" ? "down, deleted" : "down";
const random = generator(SEED);
/** Of each kind one, which the seed draws. */
const DRAWN = [...Map.groupBy(STATES, kindOf).values()].flatMap((rows) =>
  pick(share(1, rows.length), rows, random),
);

/** Sessions of all drawn states, at once. */
const each = <Result>(act: (state: State) => Promise<Result>) => Promise.all(DRAWN.map(act));

let made: TestDatabase;
let database: Database;
let here: SessionBench;

beforeAll(async () => {
  if (!POSTGRES) return;
  made = await createDatabase();
  database = await openPostgres(made.url);
  here = await startSessions({
    env: { DATABASE_URL: made.url, SVC_SESSION_CAP: "5,selfhost=1000" },
  });
});
afterAll(async () => {
  await here?.stop();
  await database?.close();
  await made?.drop();
});

describe("the place is gone", () => {
  test("the next round fails running sessions, stops and deletes those with that goal, and leaves the rest", async () => {
    const place = await placeOf("gone");
    const sessions = await Promise.all(STATES.map((state) => sessionAt(place, state)));
    here.look();
    for (const [index, [status, goal]] of STATES.entries()) {
      const id = sessions[index] ?? "";
      if (goal === "deleted") {
        await until("it is deleted", async () => (await rowOf(id)) === null);
        continue;
      }
      const wanted = isUp(status) ? (goal === "stopped" ? "stopped" : "failed") : status;
      await here.becomes(id, wanted);
      expect((await rowOf(id))?.place).toBe(place);
      if (isUp(status)) await isShut(id, wanted);
    }
  });

  test("sessions of every kind are stopped at once", async () => {
    const place = await placeOf("gone");
    await each(async (state) => {
      const [status, goal] = state;
      const id = await sessionAt(place, state, { claimed: true });
      const { status: answered, body } = await ask(id, "stop");
      if (goal === "deleted" && isUp(status))
        return expect([state, answered, body.code]).toEqual([state, 404, "not_found"]);
      expect([state, answered, body.status]).toEqual([state, 202, isUp(status) ? "stopped" : status]);
      if (isUp(status)) await isShut(id, "stopped");
    });
  });

  test("sessions of every kind are deleted at once", async () => {
    const place = await placeOf("gone");
    const asked = await each(async (state) => {
      const id = await sessionAt(place, state, { claimed: state[1] !== "deleted" });
      return { state, id, answer: ask(id, "delete") };
    });
    await looks(1);
    for (const { state, id, answer } of asked) {
      const { status, body } = await answer;
      // a look may have been faster
      const expected = status === 404 && state[1] === "deleted" ? [404, "not_found"] : [200, undefined];
      expect([state, status, body.code]).toEqual([state, ...expected]);
      if (status === 200) expect(body).toEqual({ ok: true });
      expect(await rowOf(id)).toBeNull();
    }
  });

  test("sessions of every kind are restarted here", async () => {
    const place = await placeOf("gone");
    await each(async (state) => {
      const id = await sessionAt(place, state);
      const { status, body } = await ask(id, "restart");
      if (state[1] === "deleted")
        return expect([state, status, body.code]).toEqual([state, 404, "not_found"]);
      expect([state, status, body.status]).toEqual([state, 202, "provisioning"]);
      await here.becomes(id, "running");
      expect(await rowOf(id)).toMatchObject({ place: ownId(), generation: 2, error: null });
      expect(here.provider.sandboxes.get(id)?.spec.generation).toBe(2);
    });
  });
});

describe.each(["alive", "silent"] as const)("the place is %s", (kind) => {
  test("rounds leave every session as it is", async () => {
    const place = await placeOf(kind);
    const sessions = await Promise.all(STATES.map((state) => sessionAt(place, state)));
    const before = await Promise.all(sessions.map(rowOf));
    await looks(2);
    expect(await isGone(database.db, place)).toBe(false);
    expect(await Promise.all(sessions.map(rowOf))).toEqual(before);
  });

  test.each(["stop", "restart", "delete"] as const)(
    "a request to %s a session waits for its server",
    async (verb) => {
      const place = await placeOf(kind);
      const patience = new AbortController();
      const asked = await each(async (state) => {
        const id = await sessionAt(place, state);
        return { state, id, answer: ask(id, verb, patience.signal).catch(() => null) };
      });
      if (verb === "delete") {
        for (const { id } of asked)
          await until("the deletion is recorded", async () => (await rowOf(id))?.goal === "deleted");
        // nothing tells that it waits
        await Bun.sleep(500);
        patience.abort();
      }
      await Promise.all(asked.map(({ answer }) => answer));
      await looks(1);
      for (const { state, id } of asked) {
        expect([state, await rowOf(id)]).toEqual([
          state,
          expect.objectContaining(waiting(verb, state, place)),
        ]);
        // a request that waits for a deletion ends
        if (verb === "delete") await database.db.delete(runs).where(eq(runs.runId, id));
      }
    },
  );
});

/** The row of a session whose server, at this place, has yet to do what was requested. */
function waiting(verb: Verb, [status, goal]: State, place: string): Partial<Row> {
  if (goal === "deleted") return { status, goal, place };
  if (verb === "delete") return { status, goal: "deleted", place };
  if (verb === "stop") return { status, goal: isUp(status) ? "stopped" : goal, place };
  if (isUp(status)) return { status: "provisioning", goal: "running", place };
  // it has no sandbox anywhere
  return { goal: "running", place: ownId(), generation: 2 };
}

test("the holder of a claim is alive, also before its next heartbeat", async () => {
  const place = await placeOf("gone");
  const id = await sessionAt(place, ["running", "running"], { claimed: true });
  const other = await sessionAt(place, ["running", "running"]);
  here.look();
  await here.becomes(other, "failed");
  await looks(1);
  expect((await rowOf(id))?.status).toBe("running");
});

test("a job from before its session moved to another server does nothing", async () => {
  const id = await sessionAt(await placeOf("alive"), ["running", "stopped"]);
  const queue = `runs/${ownId()}`;
  const boss = new PgBoss({ connectionString: made.url, schema: "jobs", supervise: false, schedule: false });
  await boss.start();
  try {
    const job = (await boss.send(queue, {}, { singletonKey: id })) ?? "";
    await until("it is done", async () => (await boss.getJobById(queue, job))?.state === "completed");
  } finally {
    await boss.stop({ graceful: false });
  }
  expect((await rowOf(id))?.status).toBe("running");
});

test("a sandbox of an earlier start is stopped where its session is gone; one of the same start belongs to another server", async () => {
  const place = await placeOf("alive");
  const sessions = await Promise.all([here.create(), here.create()]);
  const [moved = "", shared = ""] = sessions.map(({ session_id }) => session_id);
  for (const id of [moved, shared]) await here.becomes(id, "running");
  const { db } = database;
  await changeRun(db, shared, { place });
  await changeRun(db, moved, { place, generation: 2 });
  await until("the earlier one has ended", () => {
    here.look();
    return !here.provider.sandboxes.has(moved);
  });
  await looks(2);
  expect(here.provider.sandboxes.has(shared)).toBe(true);
  for (const id of [moved, shared]) expect((await rowOf(id))?.status).toBe("running");
});

test("a server is forgotten a month later, with its queues, when it has no session left", async () => {
  const month = 31 * 86_400;
  const [kept, dropped] = [await placeOf("gone"), await placeOf("gone")];
  const queues = async () => {
    const rows = await database.db.select({ name: sql<string>`name` }).from(sql`jobs.queue`);
    return rows.map(({ name }) => name);
  };
  const used = await sessionAt(kept, ["failed", "running"]);
  for (const place of [kept, dropped]) await setServer(database.db, place, { seen: month });
  here.look();
  await until(
    "it is forgotten",
    async () => (await database.db.$count(servers, eq(servers.id, dropped))) === 0,
  );
  expect((await queues()).filter((name) => name.endsWith(dropped))).toEqual([]);
  expect((await queues()).filter((name) => name.endsWith(kept)).length).toBe(2);
  expect((await ask(used, "delete")).status).toBe(200);
  here.look();
  await until("it is forgotten", async () => (await database.db.$count(servers, eq(servers.id, kept))) === 0);
});

function ownId(): string {
  return readServerId(here.api.dataDir);
}

function isUp(status: Row["status"]): boolean {
  return status === "provisioning" || status === "running";
}

/** A server's row, written by the test. */
async function placeOf(kind: "alive" | "silent" | "gone"): Promise<string> {
  const id = crypto.randomUUID();
  for (const work of ["runs", "secrets"])
    await database.db.execute(sql`select jobs.create_queue(${`${work}/${id}`}, '{"policy":"short"}'::jsonb)`);
  const seen = { alive: 10, silent: 240, gone: 3600 }[kind];
  await setServer(database.db, ownId(), { steady: 3600 });
  await setServer(database.db, id, { seen, ...(kind === "gone" && { gone: 60 }) });
  return id;
}

/** A session of this state with keys, at a place. @param claimed another worker holds its claim */
async function sessionAt(
  place: string,
  [status, goal]: State,
  { claimed = false }: { claimed?: boolean } = {},
): Promise<string> {
  const { db } = database;
  const [owner] = await db.query.projects.findMany({ limit: 1 });
  const [user] = await db.query.users.findMany({ limit: 1 });
  if (!owner || !user) throw new Error("the bench has no project");
  const { projectId, accountId } = owner;
  const sessionId = crypto.randomUUID();
  await db.transaction(async (tx) => {
    const claim = claimed && { worker: "nobody", workerUntil: new Date(Date.now() + 3_600_000) };
    const stopReason = goal === "stopped" ? "user" : null;
    const values = { sessionId, projectId, accountId, status, createdBy: user.userId };
    await insertSession(tx, values, { goal, place, stopReason, ...claim });
    if (!isUp(status)) return;
    await tx.insert(sessionSandboxes).values({
      runId: sessionId,
      state: "active",
      serviceKeyHash: sessionId,
      serviceKey: "",
      host: "127.0.0.1",
      port: 1,
    });
    await tx.insert(tokens).values({ userId: user.userId, projectId, sessionId, name: "t", hash: sessionId });
  });
  return sessionId;
}

async function rowOf(id: string): Promise<Row | null> {
  const [row] = await database.db.select().from(runs).where(eq(runs.runId, id));
  return row ?? null;
}

/** Its keys open nothing, and it says what happened, to people and in its log. */
async function isShut(id: string, status: Session["status"]): Promise<void> {
  const { db } = database;
  const [sandbox] = await db.select().from(sessionSandboxes).where(eq(sessionSandboxes.runId, id));
  expect(sandbox).toMatchObject({ state: status === "failed" ? "error" : "stopped", host: null, port: null });
  expect(await db.$count(tokens, eq(tokens.sessionId, id))).toBe(0);
  const { error } = await here.get(id);
  const { lines } = (await here.call("GET", `/${id}/logs`)).body;
  const [place] = await db
    .select()
    .from(servers)
    .where(eq(servers.id, (await rowOf(id))?.place ?? ""));
  const [day, time] = place?.seenAt.toISOString().split(/T|:\d\d\./) ?? [];
  expect(lines.at(-1).text).toContain(`has not sent a heartbeat since ${day} ${time} UTC`);
  if (status !== "failed") return expect(error).toBeNull();
  expect(error).toBe(lines.at(-1).text);
  expect(error).toEndWith(`svc sessions restart ${id}`);
}

function ask(id: string, verb: Verb, signal?: AbortSignal) {
  const options = signal ? { signal } : {};
  return verb === "delete"
    ? here.call("DELETE", `/${id}`, options)
    : here.call("POST", `/${id}/${verb}`, options);
}

/** Waits until the server has looked at its sessions so many times from now on. */
async function looks(count: number): Promise<void> {
  for (let look = 0; look < count; look++) {
    // what a look does at last: it forgets who is long gone
    const id = crypto.randomUUID();
    await setServer(database.db, id, { seen: 32 * 86_400, gone: 0 });
    await until("a look", async () => {
      here.look();
      return (await database.db.$count(servers, eq(servers.id, id))) === 0;
    });
  }
}
