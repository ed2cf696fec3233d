import { expect, test } from "bun:test";
import { deflateRawSync } from "node:zlib";
import { asc, eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { conversationParts, conversationTurns } from "../../db/schema/index.ts";
import { sizeOf, textAt } from "../../scripts/bench/stored.ts";
import type { RuntimePart } from "../../src/conversation/runtime-message.ts";
import type { RuntimeTurn } from "../../src/conversation/runtime-turn.ts";
import { storable } from "../../src/features/sessions/conversation/part-row.ts";
import { answersTo } from "../../src/features/sessions/conversation/read.ts";
import { recapOf } from "../../src/features/sessions/conversation/recap.ts";
import { storeTurns } from "../../src/features/sessions/conversation/store.ts";
import {
  beginningColumns,
  beginningOf,
  DAMAGED,
  storedText,
  textOf,
} from "../../src/features/sessions/conversation/stored-text.ts";
import { Changes } from "../../src/lib/changes.ts";
import { fc } from "../helpers/property.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { openSessionRow } from "../helpers/session-row.ts";

const random = generator(SEED);
/** Three bytes of UTF-8 a character, of which deflate makes hardly less. */
const noise = (length: number) =>
  Array.from({ length }, () => String.fromCharCode(0x4e00 + random(0x5000))).join("");
const SENTENCE = "The test that failed passes now: the branch was deleted before its mirror was read. ";

const isDeflated = (text: string) => storedText(text).deflatedText !== null;

test("a text is read as it was stored, whatever it has", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.string({
      unit: fc.constantFrom("a", "\0", "\uFEFF", "\uD83D", "\uDE00", "😀", "é", "\n"),
      maxLength: 100,
    }),
    fc
      .tuple(fc.string({ unit: "binary", maxLength: 10 }), fc.nat(200))
      .map(([unit, count]) => unit.repeat(count)),
  );
  fc.assert(
    fc.property(text.map(storable), (each) => {
      expect(textOf(storedText(each))).toBe(each);
    }),
    { numRuns: share(50, 5_000) },
  );
});

test.each([
  ["an empty one", "", false],
  ["one of a few words", "Yes, do it.", false],
  ["a sentence that is said again", SENTENCE.repeat(2), true],
  ["a megabyte", SENTENCE.repeat(12_500), true],
  ["the longest one that is deflated", "x".repeat(4 * 1024 * 1024), true],
  ["one that is longer than a part's", "x".repeat(4 * 1024 * 1024 + 1), false],
])("%s is read as it was stored", (_, text, deflated) => {
  expect(isDeflated(text)).toBe(deflated);
  expect(textOf(storedText(text)) === text).toBe(true);
});

test("an answer of 500 characters takes two thirds of its size", () => {
  const answer =
    "I moved the check of the branch before the merge, since a push in between was lost. The test in `test/merge` now covers both orders, and fails without the change. Nothing else calls `mergeBranch` with a stale head: the gateway reads it under the lock, and the job that settles merges reads it again. I ran the tests of `merge`, `gateway` and `settle`, and all of them pass. What is left: the documentation still describes the old order in `docs/merge.md`, which I did not change, because you asked for it in a second step.";
  expect(storedText(answer).deflatedText?.length).toBeLessThan((answer.length * 2) / 3);
});

const damage: [string, Uint8Array][] = [
  ["no bytes", Buffer.of()],
  ["no deflate", Buffer.of(0xff, 0xff, 0xff)],
  ["an end that is missing", Buffer.from(storedText(SENTENCE.repeat(9)).deflatedText ?? "").subarray(0, -9)],
  ["no UTF-8", deflateRawSync(Buffer.of(0xff, 0xfe))],
  ["half a character", deflateRawSync(Buffer.from("é").subarray(0, 1))],
  ["more than any text has", deflateRawSync(Buffer.alloc(4 * 1024 * 1024 + 1, "x"))],
];
test.each(damage)("a text whose bytes are %s says that it is damaged", (_, deflatedText) => {
  expect(textOf({ plainText: "", deflatedText })).toBe(DAMAGED);
  expect(beginningOf({ plainText: "", deflatedText }, 10_000)).toBe(DAMAGED);
});

const TEXTS = {
  short: "Yes, do it.",
  empty: "",
  long: `\uFEFF${SENTENCE.repeat(100)}`,
  // its beginning takes more bytes than all of its rest
  hard: noise(4_000) + SENTENCE.repeat(2_000),
  wide: "😀".repeat(9_000),
};

function storing(db: Db, sessionId: string) {
  const part = (turnId: string, partId: string, text: string): RuntimePart => ({
    ...{ partId, turnId, kind: "text", isComplete: true, text, tool: null, file: null, plan: null },
    ...{ parentId: null, request: null, hasFailed: false, mayLack: false, at: 1 },
  });
  const turn = (turnId: string): RuntimeTurn => ({
    ...{ turnId, state: "done", error: null, retry: null, model: null, tokens: null, cost: null },
    ...{ startedAt: 1, endedAt: 2 },
  });
  return (turns: Record<string, Record<string, string>>) =>
    storeTurns(
      { db, changes: new Changes() },
      { sessionId, generation: 1 },
      {
        turns: Object.keys(turns).map(turn),
        parts: Object.entries(turns).flatMap(([turnId, parts]) =>
          Object.entries(parts).map(([partId, text]) => part(turnId, partId, text)),
        ),
        open: null,
      },
      (text) => text,
    );
}

test("a database grows by at most 1.2 times the texts", async () => {
  const { database, sessionId } = await openSessionRow();
  const before = await sizeOf(database.db);
  const [count, length] = [400, 1_500];
  const turns = Array.from({ length: count }, (_, at) => [
    `msg_${at}`,
    { [`prt_${at}`]: textAt(at * length, length) },
  ]);
  await storing(database.db, sessionId)(Object.fromEntries(turns));
  expect((await sizeOf(database.db)) - before).toBeLessThan(1.2 * count * length);
  await database.close();
});

test("texts, the beginnings of texts, and answers are read from the database", async () => {
  const { database, sessionId } = await openSessionRow();
  const { db } = database;
  await storing(db, sessionId)({ t: TEXTS });
  const { partId, number } = conversationParts;
  const rows = await db.select().from(conversationParts).orderBy(asc(number));
  expect(rows.map((row) => [row.partId, textOf(row)])).toEqual(Object.entries(TEXTS));
  expect(rows.map(({ deflatedText }) => deflatedText !== null)).toEqual([false, false, true, true, true]);
  for (const length of [0, 1, 10, 3_001]) {
    const found = await db
      .select({ partId, ...beginningColumns(length) })
      .from(conversationParts)
      .orderBy(asc(number));
    for (const row of found) {
      const text = Object.entries(TEXTS).find(([name]) => name === row.partId)?.[1] ?? "";
      expect(beginningOf(row, length)).toBe(text.slice(0, length).replace(/[\uD800-\uDBFF]$/, ""));
      expect(row.plainText.length + (row.deflatedText?.length ?? 0)).toBeLessThan(6 * length + 513);
    }
  }
  const promptId = crypto.randomUUID();
  await db.update(conversationTurns).set({ promptId });
  expect(
    (await answersTo(db, sessionId, [promptId])).get(promptId) === Object.values(TEXTS).join("\n\n"),
  ).toBe(true);

  await db
    .update(conversationParts)
    .set({ deflatedText: Buffer.of(0xff) })
    .where(eq(partId, "long"));
  const recap = await recapOf(db, sessionId);
  expect(recap).toContain(`${TEXTS.short}\n\n\n\n${DAMAGED}\n`);
  expect(recap).toContain("😀");
  await database.close();
});
