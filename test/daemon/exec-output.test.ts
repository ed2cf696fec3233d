import { expect, test } from "bun:test";
import { Output } from "../../daemon/exec/output.ts";
import { CHUNK_MAX, WINDOW } from "../../src/contract/exec-stream.ts";
import { fc } from "../helpers/property.ts";

/** What happens to a stream of output and to its client. Counts are shares of what is possible. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("push" as const), bytes: fc.integer({ min: 1, max: WINDOW / 2 }) }),
  fc.constant({ kind: "take" as const }),
  fc.record({ kind: fc.constant("acknowledge" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant("lose" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
);

/** Bytes that differ at each place within any window. */
function bytesFrom(start: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (start + index) % 251);
}

/** Plays the steps against a client that has exactly the bytes that were taken. */
function play(
  isTerminal: boolean,
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
) {
  const output = new Output(isTerminal);
  let [produced, received, acknowledged, skipped] = [0, 0, 0, 0];
  for (const each of steps) {
    switch (each.kind) {
      case "push":
        if (output.isFull) break;
        if (output.push(bytesFrom(produced, each.bytes))) {
          skipped += output.start - received;
          received = output.start;
        }
        produced += each.bytes;
        break;
      case "take":
        for (const bytes of output.take()) {
          expect(Buffer.compare(bytes, bytesFrom(received, bytes.length))).toBe(0);
          received += bytes.length;
          expect(received - acknowledged).toBeLessThan(WINDOW + CHUNK_MAX);
        }
        break;
      case "acknowledge":
        acknowledged = Math.max(acknowledged, Math.floor(received * each.share));
        expect(output.acknowledge(acknowledged)).toBe(true);
        break;
      case "lose": {
        // some of what was sent did not arrive
        const has = Math.floor(acknowledged + (received - acknowledged) * each.share);
        const from = output.resume(has);
        expect(from).toBe(Math.max(has, output.start));
        skipped += Math.max((from ?? 0) - has, 0);
        received = from ?? 0;
        acknowledged = received;
      }
    }
    expect(output.end).toBe(produced);
    expect(output.end - output.start).toBeLessThan(isTerminal ? 2 * WINDOW + CHUNK_MAX : 1.5 * WINDOW);
  }
  while (!output.isSent) {
    for (const bytes of output.take()) received += bytes.length;
    expect(output.acknowledge(received)).toBe(true);
  }
  return {
    produced,
    received,
    skipped,
    isAcknowledged: output.acknowledge(received) && output.isAcknowledged,
  };
}

test("a client of pipes gets each byte once and in order, whenever its connection is lost", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { produced, received, skipped, isAcknowledged } = play(false, steps);
      expect({ received, skipped, isAcknowledged }).toEqual({
        received: produced,
        skipped: 0,
        isAcknowledged: true,
      });
    }),
    { numRuns: 40 },
  );
});

test("a client of a terminal gets its end, and knows what is left out; the memory is bounded", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { produced, received } = play(true, steps);
      expect(received).toBe(produced);
    }),
    { numRuns: 40 },
  );
});

test("a terminal whose client is away keeps its last bytes, and no more than a window", () => {
  const output = new Output(true);
  for (let end = 0; end < 20 * WINDOW; end += CHUNK_MAX) {
    output.push(bytesFrom(end, CHUNK_MAX));
    expect(output.end - output.start).toBeLessThanOrEqual(WINDOW);
  }
  expect(output.resume(0)).toBe(output.start);
  expect(output.start).toBeGreaterThan(19 * WINDOW);
});

test("a client cannot have, or acknowledge, what was not sent", () => {
  const output = new Output(false);
  output.push(bytesFrom(0, 10));
  expect([output.resume(11), output.acknowledge(1)]).toEqual([null, false]);
  for (const _ of output.take());
  expect([output.acknowledge(11), output.acknowledge(10), output.resume(10)]).toEqual([false, true, 10]);
});
