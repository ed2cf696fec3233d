import { afterAll, beforeAll, expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import { projectSessions, sessionPrompts } from "../../db/schema/index.ts";
import { addPrompt } from "../../src/features/sessions/prompts/add.ts";
import { openSessionRow } from "../helpers/session-row.ts";

/** As docs/prompts.md says. */
const KEPT = 1_000;

let row: Awaited<ReturnType<typeof openSessionRow>>;

beforeAll(async () => {
  row = await openSessionRow();
});
afterAll(() => row.database.close());

const add = async () => {
  const by = { userId: row.userId, actor: null };
  const prompt = { promptId: crypto.randomUUID(), text: "x", by, at: new Date() };
  return (await addPrompt(row.database.db, row.sessionId, prompt)).number;
};
const end = (number: number) =>
  row.database.db
    .update(sessionPrompts)
    .set({ state: "answered", endedAt: new Date() })
    .where(eq(sessionPrompts.number, number));
const numbers = async () =>
  (
    await row.database.db
      .select({ number: sessionPrompts.number })
      .from(sessionPrompts)
      .orderBy(asc(sessionPrompts.number))
  ).map(({ number }) => number);
const fromTo = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("the newest ended prompts of a session are kept, and all open ones", async () => {
  const { database, sessionId, userId } = row;
  const old = fromTo(1, KEPT).map((number) => ({
    sessionId,
    promptId: crypto.randomUUID(),
    number,
    text: "x",
    createdBy: userId,
    // the first is still being answered, the third waits
    ...(number === 1 || number === 3
      ? { state: number === 1 ? ("running" as const) : ("queued" as const) }
      : { state: "answered" as const, endedAt: new Date() }),
  }));
  await database.db.insert(sessionPrompts).values(old);
  await database.db.update(projectSessions).set({ promptCount: KEPT });

  expect(await add()).toBe(KEPT + 1);
  expect(await numbers()).toEqual(fromTo(1, KEPT + 1));
  await add();
  expect(await numbers()).toEqual([1, ...fromTo(3, KEPT + 2)]);
  await add();
  await add();
  expect(await numbers()).toEqual([1, 3, ...fromTo(5, KEPT + 4)]);
  await end(1);
  await end(3);
  await add();
  expect(await numbers()).toEqual(fromTo(6, KEPT + 5));
});
