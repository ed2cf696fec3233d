import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { type Database, openEmbedded, openPostgres } from "../../db/client.ts";
import { projectEvents } from "../../db/schema/index.ts";
import { type ProjectChange, publish } from "../../src/events/publish.ts";
import { readEventsAfter } from "../../src/events/read.ts";
import { trimEvents } from "../../src/events/trim.ts";
import { insertProject } from "../helpers/event-project.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, untilBlocked } from "../helpers/postgres.ts";
import { generator, SEED } from "../helpers/random.ts";

const branch = (id: string): ProjectChange => ({ type: "branch", id, action: "changed" });
const numbers = async ({ db }: Database, projectId: string, after = 0) =>
  (await readEventsAfter(db, projectId, after))?.events.map(({ seq, event }) => `${seq} ${event.id}`);

describe("on the embedded database", () => {
  let database: Database;
  beforeAll(async () => {
    database = await openEmbedded();
  });
  afterAll(() => database.close());

  test("events are numbered per project, in the order in which they are published", async () => {
    const { db } = database;
    const [one, other] = [await insertProject(db), await insertProject(db)];
    await db.transaction((tx) => publish(tx, one, branch("a"), branch("b"), branch("c")));
    await db.transaction((tx) => publish(tx, other, branch("x")));
    await db.transaction((tx) => publish(tx, one));
    await db.transaction((tx) =>
      publish(tx, one, { type: "change_request", id: "d", number: 7, action: "created" }),
    );
    expect(await numbers(database, one, 1)).toEqual(["2 a", "3 b", "4 c", "5 d"]);
    expect(await numbers(database, other, 1)).toEqual(["2 x"]);
    const { events } = (await readEventsAfter(db, one, 4)) ?? { events: [] };
    expect(events[0]?.event).toEqual({
      type: "change_request",
      id: "d",
      number: 7,
      action: "created",
      at: expect.stringMatching(/Z$/),
    });
  });

  test("a rollback publishes nothing and takes no number", async () => {
    const projectId = await insertProject(database.db);
    const failed = database.db.transaction(async (tx) => {
      await publish(tx, projectId, branch("never"));
      throw new Error("rolled back");
    });
    await expect(failed).rejects.toThrow("rolled back");
    await database.db.transaction((tx) => publish(tx, projectId, branch("kept")));
    expect(await numbers(database, projectId, 1)).toEqual(["2 kept"]);
  });

  test("names are data, whatever they contain", async () => {
    const projectId = await insertProject(database.db);
    const names = ["it's", '"}]', "ü\u202e\u0007", "a\\u0000b", "${x}", "\u{1f600}".repeat(9_000)];
    await database.db.transaction((tx) => publish(tx, projectId, ...names.map(branch)));
    const found = await readEventsAfter(database.db, projectId, 1);
    expect(found?.events.map(({ event }) => event.id)).toEqual(names);
  });

  test("trimming keeps the newest events, by count and by age", async () => {
    const { db } = database;
    const projectId = await insertProject(db);
    await db.transaction((tx) =>
      publish(tx, projectId, ...Array.from({ length: 30 }, (_, n) => branch(`${n}`))),
    );
    await trimEvents(db, { kept: 10 });
    expect((await numbers(database, projectId))?.[0]).toBe("22 20");
    await db
      .update(projectEvents)
      .set({ at: sql`now() - interval '25 hours'` })
      .where(sql`${eq(projectEvents.projectId, projectId)} and ${projectEvents.seq} < 28`);
    await trimEvents(db);
    expect(await numbers(database, projectId)).toEqual(["28 26", "29 27", "30 28", "31 29"]);
  });
});

describe("on a Postgres of many writers", () => {
  const test = needs("a real Postgres", POSTGRES);

  test("an event with a higher number does not become visible first", async () => {
    const made = await createDatabase();
    const database = await openPostgres(made.url);
    try {
      const { db } = database;
      const projectId = await insertProject(db);
      const [mayCommit, hasNumber] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const first = db.transaction(async (tx) => {
        await publish(tx, projectId, branch("first"));
        hasNumber.resolve();
        await mayCommit.promise;
      });
      await hasNumber.promise;
      let isSecondDone = false;
      const second = db
        .transaction((tx) => publish(tx, projectId, branch("second")))
        .then(() => {
          isSecondDone = true;
        });
      await untilBlocked(db);
      expect(isSecondDone).toBe(false);
      expect(await numbers(database, projectId, 1)).toEqual([]);
      mayCommit.resolve();
      await Promise.all([first, second]);
      expect(await numbers(database, projectId, 1)).toEqual(["2 first", "3 second"]);
    } finally {
      await database.close();
      await made.drop();
    }
  });

  test(`a reader that resumes after its last event sees each once and in order, while many commit (seed ${SEED})`, async () => {
    const made = await createDatabase();
    const databases = await Promise.all([
      openPostgres(made.url),
      openPostgres(made.url),
      openPostgres(made.url),
    ]);
    const [reading = databases[0]] = databases;
    try {
      const projectId = await insertProject(reading.db);
      const draw = generator(SEED);
      let [isOver, committed] = [false, 0];
      const seen: number[] = [];
      const read = (async () => {
        for (let last = 1; ; ) {
          const wasOver = isOver;
          const { events } = (await readEventsAfter(reading.db, projectId, last)) ?? { events: [] };
          seen.push(...events.map(({ seq }) => seq));
          last = seen.at(-1) ?? last;
          if (wasOver && events.length === 0) return;
        }
      })();
      const write = async (database: Database, turn: number) => {
        const isKept = turn % 5 !== 0;
        const published = await database.db
          .transaction(async (tx) => {
            const changes = Array.from({ length: 1 + (turn % 3) }, () => branch(`${turn}`));
            await publish(tx, projectId, ...changes);
            await Bun.sleep(draw(4));
            if (!isKept) throw new Error("rolled back");
            return changes.length;
          })
          .catch(() => 0);
        committed += published;
      };
      await Promise.all(
        databases.flatMap((database, at) =>
          Array.from({ length: 60 }, (_, turn) => write(database, at * 60 + turn)),
        ),
      );
      isOver = true;
      await read;
      expect(committed).toBeGreaterThan(200);
      expect(seen).toEqual(Array.from({ length: committed }, (_, at) => at + 2));
    } finally {
      await Promise.all(databases.map((database) => database.close()));
      await made.drop();
    }
  });
});
