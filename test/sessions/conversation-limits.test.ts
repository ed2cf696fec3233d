import { afterAll, beforeAll, expect, test } from "bun:test";
import { asc } from "drizzle-orm";
import { conversationParts, conversations, conversationTurns } from "../../db/schema/index.ts";
import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import { CONVERSATION_MAX_BYTES, PART_TEXT_MAX } from "../../src/contract/limits.ts";
import type { RuntimePart } from "../../src/conversation/runtime-message.ts";
import type { RuntimeTurn } from "../../src/conversation/runtime-turn.ts";
import type { ToolUse } from "../../src/conversation/tools.ts";
import { recapOf } from "../../src/features/sessions/conversation/recap.ts";
import { STORED_AT_ONCE, storeTurns } from "../../src/features/sessions/conversation/store.ts";
import { textOf } from "../../src/features/sessions/conversation/stored-text.ts";
import { Changes } from "../../src/lib/changes.ts";
import { openSessionRow } from "../helpers/session-row.ts";

let row: Awaited<ReturnType<typeof openSessionRow>>;

beforeAll(async () => {
  row = await openSessionRow();
});
afterAll(() => row.database.close());

const store = (turns: RuntimeTurn[], parts: RuntimePart[], open: string[] | null = null) =>
  storeTurns(
    { db: row.database.db, changes: new Changes() },
    { sessionId: row.sessionId, generation: 1 },
    { turns, parts, open },
    (text) => text,
  );
const turn = (turnId: string, more: Partial<RuntimeTurn> = {}): RuntimeTurn => ({
  ...{
    turnId,
    state: "done",
    error: null,
    retry: null,
    model: null,
    tokens: null,
    cost: null,
    startedAt: 1,
    endedAt: 2,
  },
  ...more,
});
const part = (
  partId: string,
  turnId: string,
  text: string,
  more: Partial<RuntimePart> = {},
): RuntimePart => ({
  ...{ partId, turnId, kind: "text", isComplete: true, text, tool: null, file: null, plan: null },
  ...{ parentId: null, request: null, hasFailed: false, mayLack: false, at: 1 },
  ...more,
});
const db = () => row.database.db;
const parts = async () => {
  const rows = await db().select().from(conversationParts).orderBy(asc(conversationParts.number));
  return rows.map((each) => ({ ...each, text: textOf(each) }));
};
const head = async () => (await db().select().from(conversations))[0];

test("more than one batch is stored whole, in order, each batch with a version of its own", async () => {
  const many = Array.from({ length: STORED_AT_ONCE * 2 + 1 }, (_, index) =>
    part(`p${index}`, "t", `${index}`),
  );
  await store([turn("t")], many);
  const stored = await parts();
  expect(stored.map(({ text }) => text)).toEqual(many.map(({ text }) => text));
  expect(stored.map(({ number }) => number)).toEqual(many.map((_, index) => index + 1));
  const perVersion = Map.groupBy(stored, ({ version }) => version);
  expect([...perVersion.values()].map(({ length }) => length)).toEqual([STORED_AT_ONCE, STORED_AT_ONCE, 1]);
});

test("the same again changes nothing but the version, and an older event does not undo a newer one", async () => {
  const before = await parts();
  await store([turn("t")], [part("p0", "t", "0"), part("p1", "t", "half", { isComplete: false })]);
  expect(await parts()).toEqual(before);
  expect((await head())?.lastPart).toBe(before.length);
});

test.each<Partial<RuntimeTurn>>([
  { model: "a/b" },
  { state: "failed" },
  { error: "no" },
  { cost: 1 },
  { tokens: { input: 1, output: 2, cached: 3 } },
  { endedAt: 5 },
])("a change of a turn alone is stored: %p", async (change) => {
  const id = JSON.stringify(change).replaceAll(/\W/g, "_");
  await store([turn(id)], []);
  await store([turn(id, change)], []);
  const stored = (await db().select().from(conversationTurns)).find(({ turnId }) => turnId === id);
  const { endedAt, ...others } = change;
  expect(stored).toMatchObject(others);
  if (endedAt !== undefined) expect(stored?.endedAt?.getTime() ?? null).toBe(endedAt);
});

test.each<[RuntimeTurn["state"], RuntimeTurn["state"], RuntimeTurn["state"]]>([
  // an older snapshot, stored after a newer one
  ["done", "working", "done"],
  // a run goes on after a compaction
  ["interrupted", "working", "working"],
  ["working", "done", "done"],
  ["done", "interrupted", "interrupted"],
])("a turn that is %s, and then said to be %s, is %s", async (first, second, expected) => {
  const id = `${first}-${second}`;
  const at = (state: RuntimeTurn["state"], ended: number) =>
    turn(id, { state, endedAt: state === "working" ? null : ended });
  await store([at(first, 5)], []);
  await store([at(second, 6)], []);
  const stored = (await db().select().from(conversationTurns)).find(({ turnId }) => turnId === id);
  const endedAt = expected === first ? 5 : 6;
  expect(stored).toMatchObject({
    state: expected,
    endedAt: expected === "working" ? null : new Date(endedAt),
  });
});

test("a text under way does not become shorter, and one whose beginning may be missing keeps what is stored", async () => {
  const text = async () => (await parts()).find(({ partId }) => partId === "grows");
  const under = (value: string, more: Partial<RuntimePart> = {}) =>
    part("grows", "g", value, { isComplete: false, ...more });
  await store([turn("g")], [under("one two")]);
  await store([], [under("one")]);
  await store([turn("g")], [under("", { mayLack: true })]);
  expect(await text()).toMatchObject({ text: "one two", isComplete: false });
  await store([], [under("one two three")]);
  await store([turn("g")], [under("", { mayLack: true, isComplete: true })]);
  expect(await text()).toMatchObject({ text: "one two three", isComplete: true });
  await store([], [under("one two three four", { mayLack: true, isComplete: true })]);
  expect(await text()).toMatchObject({ text: "one two three four", bytes: 18 });
  await store([], [under("", { isComplete: true })]);
  expect(await text()).toMatchObject({ text: "", isComplete: true });
});

test("what the runtime no longer reports of a turn stays", async () => {
  await store([turn("u", { cost: 1, tokens: { input: 1, output: 2, cached: 0 }, model: "a/b" })], []);
  await store([turn("u", { error: "no", state: "failed" })], []);
  const stored = (await db().select().from(conversationTurns)).find(({ turnId }) => turnId === "u");
  expect(stored).toMatchObject({ cost: 1, model: "a/b", tokens: { input: 1 }, state: "failed", error: "no" });
});

test("a text is cut at its limit, and a conversation that is full keeps what it has", async () => {
  await store(
    [turn("l")],
    [part("long", "l", "x".repeat(PART_TEXT_MAX + 1)), part("fits", "l", "y".repeat(PART_TEXT_MAX))],
  );
  const [long, fits] = (await parts()).slice(-2);
  expect([long?.text.length, long?.isCut, fits?.text.length, fits?.isCut]).toEqual([
    PART_TEXT_MAX,
    true,
    PART_TEXT_MAX,
    false,
  ]);
  const counted = (await parts()).reduce((sum, { bytes }) => sum + bytes, 0);
  expect((await head())?.bytes).toBe(counted);
  await db()
    .update(conversations)
    .set({ bytes: CONVERSATION_MAX_BYTES - 3 });
  const use: ToolUse = {
    ...{ tool: "bash", state: "completed", title: "ls", error: null, files: [], subagent: null },
    ...{ input: [{ name: "command", value: "ls" }], output: "a", patch: "p" },
  };
  await store(
    [turn("f")],
    [
      part("3", "f", "yes"),
      part("4", "f", "no"),
      part("5", "f", "", { kind: "tool", tool: use }),
      part("long", "l", "x".repeat(PART_TEXT_MAX)),
    ],
  );
  expect((await parts()).slice(-3)).toMatchObject([
    { text: "yes", isCut: false },
    { text: "", isCut: true, bytes: 0 },
    { isCut: true, tool: { name: "bash", title: "ls", input: [], output: "", patch: "" } },
  ]);
  expect((await parts()).find(({ partId }) => partId === "long")?.text).toHaveLength(PART_TEXT_MAX);
});

test("an agent is told the newest turns that fit, the oldest first, each shortened, without svc's notes", async () => {
  await db().update(conversations).set({ bytes: 0 });
  const turns = Array.from({ length: 30 }, (_, index) => turn(`r${index}`, { startedAt: index }));
  await store(
    turns,
    turns.flatMap(({ turnId }, index) => [
      part(`${turnId}p`, turnId, `prompt ${index} ${"p".repeat(5_000)}`, { kind: "prompt" }),
      part(`${turnId}a`, turnId, `answer ${index}`),
    ]),
  );
  await store(
    [turn("last", { state: "interrupted" })],
    [part("lastp", "last", "the last prompt", { kind: "prompt" })],
  );
  await store([turn("note")], [part("notep", "note", `${DAEMON_MARK}It restarted.`, { kind: "prompt" })]);
  const recap = (await recapOf(db(), row.sessionId)) ?? "";
  expect(recap.length).toBeLessThan(25_000);
  const told = [...recap.matchAll(/^(?:prompt|answer) (\d+)/gm)].map(([, number]) => Number(number));
  expect(told.length).toBeGreaterThan(8);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(told.at(-1)).toBe(29);
  expect(recap).toMatch(/p{2000} …\n/);
  expect(recap).toEndWith("the last prompt\n\n## You\n\n(This answer was cut off.)\n");
});

test("the agent of a session without a conversation is told nothing", async () => {
  await db().delete(conversations);
  expect(await recapOf(db(), row.sessionId)).toBeNull();
});
