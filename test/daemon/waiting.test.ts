import { expect, test } from "bun:test";
import { Waiting } from "../../daemon/waiting.ts";

test.each<[what: string, at: number[], isLong: boolean[]]>([
  ["a moment", [0, 2_000, 4_000], [false, false, false]],
  ["twenty seconds", [0, 10_000, 19_999, 20_000, 22_000], [false, false, false, true, true]],
  ["again, after a pause", [0, 10_000, 20_000, 36_000], [false, false, true, false]],
])("a browser waits: %s", (_, at, isLong) => {
  let now = 0;
  const waiting = new Waiting(() => now);
  const found = at.map((ms) => {
    now = ms;
    return waiting.isLong(3000);
  });
  expect(found).toEqual(isLong);
});

test("each port has its own wait, and only the last hundred are remembered", () => {
  let now = 0;
  const waiting = new Waiting(() => now);
  waiting.isLong(1);
  now = 10_000;
  for (let port = 2; port <= 102; port++) waiting.isLong(port);
  now = 20_000;
  expect([waiting.isLong(1), waiting.isLong(102)]).toEqual([false, false]);
  now = 30_000;
  expect([waiting.isLong(102), waiting.isLong(1)]).toEqual([true, false]);
});
