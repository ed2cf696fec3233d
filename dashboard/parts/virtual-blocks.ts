import type { Range } from "@tanstack/react-virtual";

/** Rows of a virtual list, which come and go in blocks: most frames of scrolling then change nothing in the document. */
export interface Blocks {
  /** Rows of a block. */
  size: number;
  /** Rows above and below the visible ones, at least, to avoid blank areas while scrolling. */
  overscan: number;
}

/** The indexes of the blocks that a range and its overscan touch. */
export function blocksAround(
  { startIndex, endIndex, count }: Pick<Range, "startIndex" | "endIndex" | "count">,
  { size, overscan }: Blocks,
): number[] {
  const from = Math.floor(Math.max(0, startIndex - overscan) / size) * size;
  const to = Math.min(count, Math.ceil((endIndex + 1 + overscan) / size) * size);
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
}

/** @returns the indexes of both in order, each once; the array `before` if it has the same */
export function withIndexes(
  before: number[],
  indexes: readonly number[],
  ...others: readonly number[]
): number[] {
  const next = [...new Set([...indexes, ...others])].toSorted((a, b) => a - b);
  return next.length === before.length && next.every((each, at) => each === before[at]) ? before : next;
}
