import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { projectSessions } from "../../db/schema/index.ts";
import { claimSession } from "../../src/sessions/claim.ts";
import { openSessionRow } from "../helpers/session-row.ts";

let database: Database;
let sessionId: string;

beforeAll(async () => {
  ({ database, sessionId } = await openSessionRow());
});
afterAll(() => database.close());

const claim = (id = sessionId) => claimSession({ db: database.db }, id);

test("of many who want a session one has it, until it lets go", async () => {
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim()));
  const taken = claims.filter((one) => one !== null);
  expect(taken.length).toBe(1);
  expect(await claim()).toBeNull();
  await taken[0]?.release();
  const next = await claim();
  expect(next).not.toBeNull();
  // who has let go does not take it from the next
  await taken[0]?.release();
  expect(await claim()).toBeNull();
  await next?.release();
});

test("who has died loses it, and cannot give up what another has taken", async () => {
  const dead = await claim();
  await database.db
    .update(projectSessions)
    .set({ workerUntil: sql`now() - interval '1 second'` })
    .where(eq(projectSessions.sessionId, sessionId));
  const next = await claim();
  expect(next).not.toBeNull();
  await dead?.release();
  expect(await claim()).toBeNull();
  await next?.release();
});

test("a session that is gone has no claims", async () => {
  expect(await claim(crypto.randomUUID())).toBeNull();
});
