import { describe, expect, test } from "bun:test";
import { countEvents, createEventSplitter, dataOf, splitEvents } from "../../src/features/models/events.ts";
import { meterStream, meterWhole } from "../../src/features/models/meter.ts";
import { createPace } from "../../src/features/models/pace.ts";
import { generator, SEED, share } from "../helpers/random.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const joined = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString();
const event = (data: unknown, name = "") => `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

/** Text → what the client gets, and the meter, of a stream that arrives in chunks of random sizes, or of one. */
function passed(
  text: string,
  options: Parameters<typeof meterStream>[0],
  cut: ((left: number) => number) | null,
) {
  const meter = meterStream(options);
  const all = Buffer.from(text);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < all.length; ) {
    const size = cut === null ? all.length : 1 + cut(all.length - at);
    pieces.push(...meter.push(new Uint8Array(all.subarray(at, at + size))));
    at += size;
  }
  pieces.push(...meter.end());
  return { text: joined(pieces), pieces, meter };
}

const delta = (content: string, more = {}) => event({ choices: [{ delta: { content } }], ...more });
const USAGE = { prompt_tokens: 12, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 5 } };
const TOKENS = { input: 12, output: 7, cached: 5 };
const DONE = "data: [DONE]\n\n";

describe("a stream of chat", () => {
  const visible = delta("a") + delta('"usage": 3 é') + delta("", { usage_of_it: null });
  const usage = event({ choices: [], usage: USAGE });

  test("passes as it is, in any chunks, and its usage is read", () => {
    const random = generator(SEED);
    for (let round = 0; round < share(30, 2_000); round++) {
      const text = visible + delta("b", { usage: null }) + usage + DONE;
      const cut = round === 0 ? null : (left: number) => random(Math.min(left, 60));
      const { text: got, meter } = passed(text, { hides: false, kind: "chat" }, cut);
      expect([got, meter.usage, meter.isFinal]).toEqual([text, TOKENS, true]);
    }
  });

  test("has only the usage removed that the client has not asked for, wherever it is in an event", () => {
    const random = generator(SEED);
    const first = 'data: {"usage":null,"choices":[]}\n\n';
    const middle = 'data: {"id":"c", "usage" : null , "choices":[{"x":"\\"usage\\":null"}]}\r\n\r\n';
    const only = 'data: {"usage":null}\n\n';
    const nested = 'data: {"usage":null,"choices":[{"a":{}},{"b":1}]}\n\n';
    const sent = visible + delta("b", { usage: null }) + first + middle + only + nested + usage + DONE;
    const seen = `${visible}${delta("b")}data: {"choices":[]}\n\ndata: {"id":"c" , "choices":[{"x":"\\"usage\\":null"}]}\r\n\r\n${only}data: {"choices":[{"a":{}},{"b":1}]}\n\n${DONE}`;
    for (let round = 0; round < share(30, 2_000); round++) {
      const cut = round === 0 ? null : (left: number) => random(Math.min(left, 60));
      const { text, meter } = passed(sent, { hides: true, kind: "chat" }, cut);
      expect([text, meter.usage, meter.isFinal]).toEqual([seen, TOKENS, true]);
    }
    // a usage beside an answer is shown: the event is the client's
    const both = event({ choices: [{ delta: {} }], usage: USAGE });
    expect(passed(both + DONE, { hides: true, kind: "chat" }, null).text).toBe(both + DONE);
  });

  test("is over with its last event, with or without [DONE]; without a usage it is not", () => {
    const meter = meterStream({ hides: false, kind: "chat" });
    meter.push(bytes(visible + usage));
    expect([meter.usage, meter.isFinal]).toEqual([TOKENS, false]);
    meter.push(bytes(delta("[DONE]")));
    expect(meter.isFinal).toBe(false);
    meter.push(bytes(DONE));
    expect(meter.isFinal).toBe(true);
    expect(passed(visible + usage, { hides: false, kind: "chat" }, null).meter.isFinal).toBe(true);
    expect(passed(visible + DONE, { hides: false, kind: "chat" }, null).meter.isFinal).toBe(false);
    expect(passed(usage, { hides: false, kind: "messages" }, null).meter.isFinal).toBe(false);
  });

  test("that has no usage yet passes without being separated or copied", () => {
    const meter = meterStream({ hides: true, kind: "chat" });
    const chunk = bytes(delta("a") + delta("b") + delta("c"));
    const pieces = meter.push(chunk);
    expect(pieces).toHaveLength(1);
    expect(pieces[0]?.buffer).toBe(chunk.buffer);
    expect(meter.estimatedOutput).toBe(3);
    expect(meter.push(bytes("data: {"))).toEqual([]);
    expect(joined(meter.push(bytes('"x":1}\n\ndata')))).toBe('data: {"x":1}\n\n');
    expect(meter.estimatedOutput).toBe(4);
    meter.push(bytes(`: {}\n\n${usage}`));
    expect(meter.estimatedOutput).toBe(6);
    // what is left at the end passes, even a single byte; nothing is added if nothing is left
    expect(meter.end()).toEqual([]);
    meter.push(bytes("x"));
    expect(joined(meter.end())).toBe("x");
  });
});

test("a stream of Anthropic's is measured from its first event to its last", () => {
  const start = event(
    {
      type: "message_start",
      message: { usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } },
    },
    "message_start",
  );
  const text = event({ type: "content_block_delta", delta: { text: "message_stop" } }, "content_block_delta");
  const end = event({ type: "message_delta", usage: { output_tokens: 9 } }, "message_delta");
  const stop = event({ type: "message_stop" }, "message_stop");
  const meter = meterStream({ hides: false, kind: "messages" });
  meter.push(bytes(start + text));
  expect([meter.usage, meter.isFinal]).toEqual([{ input: 7, output: 1, cached: 4 }, false]);
  meter.push(bytes(end));
  expect([meter.usage, meter.isFinal]).toEqual([{ input: 7, output: 9, cached: 4 }, false]);
  meter.push(bytes(stop));
  expect(meter.isFinal).toBe(true);
});

test.each(["completed", "incomplete", "failed"])(
  "a response that is %s has its usage in the last event",
  (how) => {
    const created = event({ type: "response.created", response: { usage: null } });
    const usage = { input_tokens: 12, output_tokens: 7, input_tokens_details: { cached_tokens: 5 } };
    const last = event({ type: `response.${how}`, response: { usage } });
    const { text, meter } = passed(created + last, { hides: false, kind: "responses" }, null);
    expect([text, meter.usage, meter.isFinal]).toEqual([created + last, TOKENS, true]);
    expect(passed(created, { hides: false, kind: "responses" }, null).meter.isFinal).toBe(false);
  },
);

test("a whole response is held until its usage is known, and is measured", () => {
  const meter = meterWhole();
  expect([meter.usage, meter.isFinal, meter.estimatedOutput]).toEqual([null, false, 0]);
  const text = JSON.stringify({ choices: [], usage: USAGE });
  expect(meter.push(bytes(text.slice(0, 20)))).toEqual([]);
  expect(meter.push(bytes(text.slice(20)))).toEqual([]);
  expect(meter.estimatedOutput).toBe(Math.ceil(text.length / 4));
  expect(joined(meter.end())).toBe(text);
  expect([meter.usage, meter.isFinal]).toEqual([TOKENS, true]);
  const short = meterWhole();
  short.push(bytes("12345678"));
  expect(short.estimatedOutput).toBe(2);
  const one = meterWhole();
  one.push(bytes("1"));
  expect(joined(one.end())).toBe("1");
  const empty = meterWhole();
  expect([empty.end(), empty.usage, empty.isFinal]).toEqual([[], null, false]);
});

describe("events", () => {
  test("are cut behind a blank line, of any kind of line", () => {
    for (const end of ["\n\n", "\r\n\r\n"]) {
      const splitter = createEventSplitter();
      const one = `data: a${end}`;
      expect(splitter.push(bytes(`${one}${one}data: b`))?.toString()).toBe(one + one);
      for (const part of end.slice(0, -1)) expect(splitter.push(bytes(part))).toBeNull();
      expect(splitter.push(bytes("\n"))?.toString()).toBe(`data: b${end}`);
      expect(splitter.rest()).toHaveLength(0);
      expect(splitter.push(bytes("data: c\n"))).toBeNull();
      expect(splitter.rest().toString()).toBe("data: c\n");
      expect(splitEvents(Buffer.from(one + one)).map(String)).toEqual([one, one]);
      // a line that ends otherwise is not a blank one
      const several = `event: x${end.slice(0, end.length / 2)}data: y\r\rz${end}`;
      expect(splitEvents(Buffer.from(several + one)).map(String)).toEqual([several, one]);
      expect(splitEvents(Buffer.from(`${one}data: d`)).map(String)).toEqual([one, "data: d"]);
    }
    expect([
      countEvents(Buffer.from("data: a\n\ndata: b\n\n")),
      countEvents(Buffer.from("x\r\n\r\n")),
    ]).toEqual([2, 1]);
  });

  test("that are longer than 8 MiB pass in pieces", () => {
    const splitter = createEventSplitter();
    const part = new Uint8Array(5 * 1024 * 1024).fill(0x61);
    expect(splitter.push(part)).toBeNull();
    expect(splitter.push(part)).toHaveLength(2 * part.length);
    expect(splitter.rest()).toHaveLength(0);
  });

  test("have data of one or several lines, or none", () => {
    const of = (text: string) => dataOf(Buffer.from(text));
    expect([of("event: a\ndata: x\n\n"), of("data:x\r\ndata:  y\r\n\r\n"), of(": a comment\n\n")]).toEqual([
      "x",
      "x\n y",
      null,
    ]);
  });
});

test("the pieces of a fast stream wait for the next interval, which all streams share", async () => {
  const [one, other] = [createPace(), createPace()];
  expect([one(), other()]).toEqual([null, null]);
  const waits = [one(), other()];
  expect(waits[0]).toBeInstanceOf(Promise);
  expect(waits[1]).toBe(waits[0] ?? null);
  await waits[0];
  // waiting is not passing on: the stream was slow enough
  expect(other()).not.toBe(waits[0] ?? null);
});
