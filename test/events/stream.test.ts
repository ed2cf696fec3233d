import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import pino from "pino";
import type { Database } from "../../db/client.ts";
import { projectEvents, projects } from "../../db/schema/index.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { type Events, openEvents } from "../../src/events/events.ts";
import { type ProjectChange, publish, publishDeletion } from "../../src/events/publish.ts";
import { trimEvents } from "../../src/events/trim.ts";
import { streamProjectEvents } from "../../src/features/projects/events.ts";
import { Changes } from "../../src/lib/changes.ts";
import { insertProject } from "../helpers/event-project.ts";
import { readStream } from "../helpers/event-stream.ts";
import { openDatabase } from "../helpers/postgres.ts";
import { generator, SEED } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

const log = pino({ level: "silent" });
let database: Database;
let events: Events;
let queries = 0;

beforeAll(async () => {
  database = await openDatabase();
  const counted = new Proxy(database.db, {
    get(db, key) {
      if (key === "select") queries++;
      return Reflect.get(db, key);
    },
  });
  events = openEvents({ ...database, db: counted }, { changes: new Changes(), log });
});
afterAll(async () => {
  await events.close();
  await database.close();
});

const branch = (id: string): ProjectChange => ({ type: "branch", id, action: "changed" });
const publishBranches = (projectId: string, ...ids: string[]) =>
  database.db.transaction((tx) => publish(tx, projectId, ...ids.map(branch)));
const allowed = async () => {};
const open = (projectId: string, after?: string, again = allowed, pace = {}) =>
  streamProjectEvents({ events, log }, { projectId }, { lastEventId: after }, again, pace);
const follow = (...given: Parameters<typeof open>) => readStream(open(...given));
const received = ({ entries }: ReturnType<typeof readStream>) =>
  entries.map(({ id, event }) => `${id} ${event.type} ${"seq" in event ? event.seq : event.id}`);

test("a stream starts at the last event, and resumes after the last one received", async () => {
  const projectId = await insertProject(database.db);
  await publishBranches(projectId, "before");
  const one = follow(projectId);
  await until("it begins", () => one.entries.length > 0);
  await publishBranches(projectId, "a", "b");
  await publishBranches(projectId, "c");
  await one.waitFor("the last", ({ id }) => id === "c");
  expect(received(one)).toEqual(["2 ready 2", "3 branch a", "4 branch b", "5 branch c"]);
  await one.close();
  await publishBranches(projectId, "d");
  const two = follow(projectId, "4");
  await two.waitFor("what was missed", ({ id }) => id === "d");
  await publishBranches(projectId, "e");
  await two.waitFor("what is new", ({ id }) => id === "e");
  expect(received(two)).toEqual(["4 ready 6", "5 branch c", "6 branch d", "7 branch e"]);
  await two.close();
});

test("a stream starts with the events of the last seconds on request", async () => {
  const projectId = await insertProject(database.db);
  await publishBranches(projectId, "old");
  await database.db
    .update(projectEvents)
    .set({ at: sql`clock_timestamp() - interval '61 seconds'` })
    .where(eq(projectEvents.projectId, projectId));
  const recent = (from: { lastEventId?: string; recent: number }) =>
    readStream(streamProjectEvents({ events, log }, { projectId }, from, allowed));
  const none = recent({ recent: 60 });
  await until("it begins", () => none.entries.length > 0);
  await publishBranches(projectId, "a", "b");
  const some = recent({ recent: 60 });
  const after = recent({ lastEventId: "3", recent: 60 });
  for (const stream of [none, some, after]) {
    await stream.waitFor("the last", ({ id }) => id === "b");
    await stream.close();
  }
  expect(received(none)).toEqual(["2 ready 2", "3 branch a", "4 branch b"]);
  expect(received(some)).toEqual(["2 ready 4", "3 branch a", "4 branch b"]);
  expect(received(after)).toEqual(["3 ready 4", "4 branch b"]);
});

test("a stream that starts as the last one ends receives new events", async () => {
  const projectId = await insertProject(database.db);
  const ids: string[] = [];
  const reader = (closed: AbortSignal) => ({
    position() {},
    send: ({ event }: { event: { id: string } }) => void ids.push(event.id),
    drained: async () => {},
    end() {},
    closed,
  });
  const last = new AbortController();
  await events.subscribe(projectId, {}, reader(last.signal));
  const joined = events.subscribe(projectId, { recent: 10 }, reader(new AbortController().signal));
  last.abort();
  await joined;
  await publishBranches(projectId, "a");
  await until("it has received the event", () => ids.includes("a"));
});

test(`a stream that is cut anywhere and resumed sends each event once and in order, while others are published (seed ${SEED})`, async () => {
  const projectId = await insertProject(database.db);
  const COUNT = 400;
  const draw = generator(SEED);
  const write = (async () => {
    for (let n = 0; n < COUNT; n += 4)
      await publishBranches(projectId, ...[0, 1, 2, 3].map((more) => `${n + more}`));
  })();
  const readers = Array.from({ length: 10 }, async (_, reader) => {
    const ids: string[] = [];
    for (let last = "1"; ids.at(-1) !== `${COUNT - 1}`; ) {
      const stream = follow(projectId, last);
      // sometimes none: it is cut before it starts
      const pieces = draw(8 * (reader + 1));
      const isOver = () => stream.entries.length >= pieces || stream.events().at(-1)?.id === `${COUNT - 1}`;
      await until("it is time to cut", isOver);
      await stream.close();
      ids.push(...stream.events().map(({ id }) => id));
      last = stream.lastId() || last;
    }
    return ids;
  });
  const wanted = Array.from({ length: COUNT }, (_, n) => `${n}`);
  for (const ids of await Promise.all(readers)) expect(ids).toEqual(wanted);
  await write;
});

test("resuming after an event that is no longer stored, or never was, is a reset", async () => {
  const projectId = await insertProject(database.db);
  await publishBranches(projectId, ...Array.from({ length: 20 }, (_, n) => `${n}`));
  await trimEvents(database.db, { kept: 5 });
  const rows: [after: string, first: string[]][] = [
    ["21", ["21 ready 21"]],
    ["20", ["20 ready 21", "21 branch 19"]],
    ["16", ["16 ready 21", "17 branch 15"]],
    ["15", ["21 reset 21"]],
    ["0", ["21 reset 21"]],
    ["22", ["21 reset 21"]],
    ["999999999999999", ["21 reset 21"]],
    ["-1", ["21 ready 21"]],
    ["now", ["21 ready 21"]],
  ];
  for (const [after, first] of rows) {
    const stream = follow(projectId, after);
    await until(`it begins after ${after}`, () => stream.entries.length >= first.length);
    expect([after, received(stream).slice(0, first.length)]).toEqual([after, first]);
    await stream.close();
  }
  await database.db.delete(projectEvents).where(eq(projectEvents.projectId, projectId));
  const empty = follow(projectId, "20");
  await until("it begins", () => empty.entries.length > 0);
  expect(received(empty)).toEqual(["21 reset 21"]);
  await empty.close();
});

test("a change costs one query, whatever the number of subscribers", async () => {
  const projectId = await insertProject(database.db);
  const streams = Array.from({ length: 200 }, () => follow(projectId));
  await until("all begin", () => streams.every(({ entries }) => entries.length > 0));
  const before = queries;
  await publishBranches(projectId, "a");
  await until("all have received it", () => streams.every(({ entries }) => entries.length === 2));
  // the heads may be polled meanwhile
  expect(queries - before).toBeLessThanOrEqual(3);
  await Promise.all(streams.map((stream) => stream.close()));
});

test("a slow reader is cut off, and does not slow down the others", async () => {
  const projectId = await insertProject(database.db);
  const slow = open(projectId).getReader();
  const quick = follow(projectId);
  await slow.read();
  const long = Array.from({ length: 100 }, (_, n) => `${n} ${"x".repeat(1_000)}`);
  for (let turn = 1; turn <= 6; turn++) {
    await publishBranches(projectId, ...long);
    await until("the other has all", () => quick.events().length === 100 * turn);
  }
  const drain = async () => {
    for (let got = await slow.read(); !got.done; got = await slow.read());
  };
  await expect(drain()).rejects.toThrow("too slow");
  await quick.close();
});

test("a reader that resumes far behind receives everything, at its own pace", async () => {
  const projectId = await insertProject(database.db);
  const long = Array.from({ length: 250 }, (_, n) => `${n} ${"x".repeat(1_000)}`);
  for (let turn = 0; turn < 8; turn++) await publishBranches(projectId, ...long);
  const stream = follow(projectId, "1");
  await until("all came", () => stream.events().length === 2_000);
  await stream.close();
});

test("a stream ends when its caller loses access, and survives a failing access check", async () => {
  const projectId = await insertProject(database.db);
  let answer: unknown = null;
  const again = async () => {
    if (answer) throw answer;
  };
  const stream = follow(projectId, undefined, again, { checkMs: 20, heartbeatMs: 20 });
  await until("it is kept alive", () => stream.comments() > 3);
  answer = new Error("the database is away");
  const seen = stream.comments();
  await until("it lives on", () => stream.comments() > seen + 3);
  answer = new SvcError("unauthorized", "The token was revoked.");
  await stream.ended;
  await publishBranches(projectId, "secret");
  expect(stream.events()).toEqual([]);
});

test("the deletion of a project is published, and ends its streams", async () => {
  const projectId = await insertProject(database.db);
  const stream = follow(projectId);
  await until("it begins", () => stream.entries.length > 0);
  await database.db.transaction(async (tx) => {
    await tx.delete(projects).where(eq(projects.projectId, projectId));
    await publishDeletion(tx, projectId);
  });
  await stream.ended;
  expect(received(stream)).toEqual(["1 ready 1", ` project ${projectId}`]);
  const late = follow(projectId);
  await late.ended;
  expect(received(late)).toEqual([` project ${projectId}`]);
});
