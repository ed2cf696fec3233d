import { afterAll, beforeAll, beforeEach, test as everywhere, expect } from "bun:test";
import { eq } from "drizzle-orm";
import pino from "pino";
import { type Database, openEmbedded, openPostgres } from "../../db/client.ts";
import { servers } from "../../db/schema/index.ts";
import { declareGone, goneSince } from "../../src/jobs/gone.ts";
import { needsHeartbeat, startHeartbeat } from "../../src/jobs/heartbeat.ts";
import { linkTo } from "../helpers/database-link.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase, untilBlocked } from "../helpers/postgres.ts";
import { isGone, setServer } from "../helpers/servers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const log = pino({ level: "silent" });

let made: TestDatabase;
let database: Database;

beforeAll(async () => {
  if (!POSTGRES) return;
  made = await createDatabase();
  database = await openPostgres(made.url);
});
afterAll(async () => {
  await database?.close();
  await made?.drop();
});
beforeEach(async () => {
  if (POSTGRES) await database.db.delete(servers);
});

/** Seconds since: the other was seen, this one was seen, this one was away. */
const SILENCES: readonly [other: number, seen: number, steady: number, gone: boolean][] = [
  [0, 0, 3600, false],
  [60, 0, 3600, false],
  [290, 0, 3600, false],
  [310, 0, 3600, true],
  [7 * 86_400, 0, 3600, true],
  // it has just started, or the database is back: all heartbeats are old
  [310, 0, 0, false],
  [7 * 86_400, 0, 290, false],
  [310, 0, 310, true],
  // it was suspended itself, and has not yet written a heartbeat
  [310, 310, 3600, false],
  [310, 130, 3600, false],
];

test.each(SILENCES)(
  "a server seen %d s ago is checked by one seen %d s ago and steady for %d s: gone %p",
  async (other, seen, steady, gone) => {
    const { db } = database;
    await setServer(db, "other", { seen: other });
    await setServer(db, "me", { seen, steady });
    const found = await declareGone({ db, databaseKind: "postgres", serverId: "me" });
    expect(found.map(({ id }) => id)).toEqual(gone ? ["other"] : []);
    expect(await isGone(db, "other")).toBe(gone);
    expect((await goneSince({ serverId: "me" }, db, "other")) !== null).toBe(gone);
    // it is returned once
    expect(await declareGone({ db, databaseKind: "postgres", serverId: "me" })).toEqual([]);
  },
);

test("a server never considers itself, the cluster or an unknown place as gone", async () => {
  const { db } = database;
  await setServer(db, "me", { seen: 0, steady: 3600, gone: 60 });
  await setServer(db, "kubernetes", { seen: 3600, gone: 60 });
  for (const place of ["me", "kubernetes", "unknown"])
    expect(await goneSince({ serverId: "me" }, db, place)).toBeNull();
});

/** Seconds since it was seen and since it was away → whether it has been away by now. */
const RETURNS: readonly [seen: number, steady: number, wasAway: boolean][] = [
  [5, 3600, false],
  [110, 3600, false],
  [130, 3600, true],
  [7 * 86_400, 8 * 86_400, true],
];

test.each(RETURNS)(
  "a server that was seen %d s ago writes a heartbeat: steady for %d s until then, away %p",
  async (seen, steady, wasAway) => {
    const { db } = database;
    await setServer(db, "me", { seen, steady, gone: 1 });
    (await startHeartbeat({ db, databaseKind: "postgres", serverId: "me", log }))();
    expect(await isGone(db, "me")).toBe(false);
    const [row] = await db.select().from(servers).where(eq(servers.id, "me"));
    const steadyFor = (row?.seenAt.getTime() ?? 0) - (row?.steadySince.getTime() ?? 0);
    expect(steadyFor > 1000).toBe(!wasAway);
  },
);

/** Seconds since they were declared gone: this server (undefined: it has no row) and another. */
const READERS: readonly [
  me: number | null | undefined,
  other: number | null | undefined,
  isNeeded: boolean,
][] = [
  [null, undefined, false],
  [null, null, true],
  // it has been declared gone, and nobody else is left to take over
  [null, 10, false],
  [10, undefined, true],
  [10, 10, true],
  [undefined, undefined, true],
  [undefined, null, true],
];

test.each(READERS)(
  "a server gone for %p s, beside another gone for %p s, writes a heartbeat: %p",
  async (me, other, isNeeded) => {
    const { db } = database;
    if (me !== undefined) await setServer(db, "me", { seen: 3600, gone: me });
    if (other !== undefined) await setServer(db, "other", { seen: 3600, gone: other });
    expect(await needsHeartbeat({ db, databaseKind: "postgres", serverId: "me" })).toBe(isNeeded);
  },
);

test("the heartbeat repeats, also after a database outage, and stops with the server", async () => {
  const link = await linkTo(made.url);
  const own = await openPostgres(link.url);
  const server = { db: own.db, databaseKind: "postgres" as const, serverId: "me", log };
  const end = await startHeartbeat(server, { beatMs: 20, retryMs: 20 });
  const isSeen = async () => {
    await setServer(database.db, "me", { seen: 60, gone: 0 });
    await until("it is seen", async () => !(await isGone(database.db, "me")));
  };
  try {
    await isSeen();
    link.cut();
    await until("it has tried to write", () => link.refused() > 1);
    link.mend();
    await isSeen();
    end();
    // one may have been under way; after it, for as long as some beats would take, none
    await until("none is written any more", async () => {
      await setServer(database.db, "me", { seen: 60, gone: 0 });
      await Bun.sleep(100);
      return await isGone(database.db, "me");
    });
  } finally {
    end();
    await own.close();
    link.close();
  }
});

test("a server that comes back waits for the transaction that takes over its runs", async () => {
  const { db } = database;
  await setServer(db, "other", { seen: 3600, gone: 60 });
  const steps: string[] = [];
  const asked = Promise.withResolvers<void>();
  const taking = db.transaction(async (tx) => {
    expect(await goneSince({ serverId: "me" }, tx, "other")).not.toBeNull();
    asked.resolve();
    await untilBlocked(db);
    expect(await goneSince({ serverId: "me" }, tx, "other")).not.toBeNull();
    steps.push("taken");
  });
  await asked.promise;
  const back = startHeartbeat({ db, databaseKind: "postgres", serverId: "other", log }).then((end) => {
    steps.push("back");
    end();
  });
  await Promise.all([taking, back]);
  expect(steps).toEqual(["taken", "back"]);
  expect(await goneSince({ serverId: "me" }, db, "other")).toBeNull();
});

everywhere("with the embedded database, every other server counts as gone", async () => {
  const embedded = await openEmbedded();
  try {
    const { db } = embedded;
    await setServer(db, "the data folder before", { seen: 0 });
    const server = { db, databaseKind: "embedded" as const, serverId: "me" };
    (await startHeartbeat({ ...server, log }))();
    expect((await declareGone(server)).map(({ id }) => id)).toEqual(["the data folder before"]);
  } finally {
    await embedded.close();
  }
});
