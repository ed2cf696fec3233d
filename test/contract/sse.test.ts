import { expect, test } from "bun:test";
import { readEvents, type ServerEvent } from "../../src/contract/sse.ts";
import { fc } from "../helpers/property.ts";
import { share } from "../helpers/random.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** Bytes in pieces that end wherever `cuts` say, empty ones among them. */
async function* pieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const ends = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    yield bytes.slice(from, end);
    from = end;
  }
}

const collect = (bytes: Uint8Array, cuts: readonly number[]): Promise<ServerEvent[]> =>
  Array.fromAsync(readEvents(pieces(bytes, cuts)));
const read = (text: string): Promise<ServerEvent[]> => collect(encode(text), []);

const words = fc.string({
  unit: fc.constantFrom("a", " ", ":", "{", "é", "日", "👩‍👩‍👧", "\0", "\t", "\ufeff"),
  maxLength: 8,
});

const event = fc.record({
  type: fc.option(
    words.filter((text) => text !== ""),
    { nil: undefined },
  ),
  id: fc.option(
    words.filter((text) => !text.includes("\0")),
    { nil: undefined },
  ),
  data: fc.array(words, { maxLength: 3 }),
  comment: fc.boolean(),
  retry: fc.boolean(),
  unknown: fc.boolean(),
});

test("a stream has the same events with any line endings and splits of its bytes", async () => {
  const property = fc.asyncProperty(
    fc.array(event, { maxLength: 6 }),
    fc.constantFrom("\n", "\r\n", "\r"),
    fc.boolean(),
    fc.array(fc.nat(), { maxLength: 40 }),
    async (events, end, bom, cuts) => {
      const expected: ServerEvent[] = [];
      let id = "";
      const lines = events.flatMap((each) => {
        id = each.id ?? id;
        if (each.data.length > 0) {
          expected.push({ type: each.type ?? "message", data: each.data.join("\n"), id });
        }
        return [
          ...(each.comment ? [": heartbeat", ":"] : []),
          ...(each.type === undefined ? [] : [`event: ${each.type}`]),
          ...each.data.map((line) => `data: ${line}`),
          ...(each.id === undefined ? [] : [`id: ${each.id}`]),
          ...(each.retry ? ["retry: 10"] : []),
          ...(each.unknown ? ["whatever: x", "data-less"] : []),
          "",
        ];
      });
      const text = `${bom ? "\ufeff" : ""}${lines.map((line) => line + end).join("")}`;
      expect(await collect(encode(text), cuts)).toEqual(expected);
      expect(
        await collect(
          encode(text),
          Array.from({ length: text.length * 4 }, (_, at) => at),
        ),
      ).toEqual(expected);
    },
  );
  await fc.assert(property, { numRuns: share(100, 3000) });
});

test.each<[string, string, Partial<ServerEvent>[]]>([
  [
    "a space behind the colon is the first one alone",
    "data:  a\n\ndata:b\n\n",
    [{ data: " a" }, { data: "b" }],
  ],
  ["a field without a colon has an empty value", "data\n\n", [{ data: "" }]],
  [
    "an event without data is none, and its type is not the next one's",
    "event: x\n\ndata: 1\n\n",
    [{ type: "message" }],
  ],
  [
    "an id stays until the next",
    "id: 7\ndata: 1\n\ndata: 2\n\nid\ndata: 3\n\n",
    [{ id: "7" }, { id: "7" }, { id: "" }],
  ],
  ["an id with a NUL is none", "id: 7\ndata: 1\n\nid: \0\ndata: 2\n\n", [{ id: "7" }, { id: "7" }]],
  ["an event that is not ended is none", "data: 1\n\ndata: 2\n", [{ data: "1" }]],
  [
    "a byte order mark counts as one at the beginning alone",
    "\ufeffdata: 1\n\n\ufeffdata: 2\n\n",
    [{ data: "1" }],
  ],
  ["line ends of all kinds in one stream", "data: 1\rdata: 2\ndata: 3\r\n\r\n", [{ data: "1\n2\n3" }]],
])("%s", async (_, text, expected) => {
  expect(await read(text)).toMatchObject(expected);
  expect(await read(text)).toHaveLength(expected.length);
});

test("invalid UTF-8 becomes the replacement character", async () => {
  expect(
    await collect(Buffer.from([...encode("data: a"), 0xff, 0xe2, ...encode("b\n\n")]), [8]),
  ).toMatchObject([{ data: "a\ufffd\ufffdb" }]);
});

/** An endless stream of one piece after the other; says how much of it was taken. */
function endless(first: string, piece: string) {
  const taken = { characters: 0 };
  async function* chunks() {
    yield encode(first);
    for (const bytes = encode(piece); ; taken.characters += piece.length) yield bytes;
  }
  return { chunks: chunks(), taken };
}

test.each([
  ["a line", "data: ", "x".repeat(10_000)],
  ["a comment", ":", "x".repeat(10_000)],
  ["an event of many lines", "", `data: ${"x".repeat(10_000)}\n`],
  ["an event of empty lines", "", "data\n".repeat(2000)],
])("rejects %s without an end before it fills the memory", async (_, first, piece) => {
  const { chunks, taken } = endless(first, piece);
  const failed = await Array.fromAsync(readEvents(chunks)).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(RangeError);
  expect(taken.characters).toBeLessThan(6_000_000);
});
