import { expect, test } from "bun:test";
import { generator, sample, share } from "./random.ts";

test("the same seed gives the same numbers, another seed others, all below the bound", () => {
  const drawn = (seed: number) => {
    const random = generator(seed);
    return Array.from({ length: 200 }, () => random(10));
  };
  expect(drawn(1)).toEqual(drawn(1));
  expect(drawn(1)).not.toEqual(drawn(2));
  expect(new Set(drawn(1))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
});

test("a sample has distinct rows of the table in order, and in a full run all of them", () => {
  const rows = Array.from({ length: 50 }, (_, index) => index);
  for (const usual of [0, 1, 7, 49, 50, 60]) {
    const drawn = sample(usual, rows);
    expect(drawn).toHaveLength(Math.min(share(usual, rows.length), rows.length));
    expect(drawn).toEqual(rows.filter((row) => drawn.includes(row)));
  }
});
