/** A part of a line: from, and up to (exclusive), in UTF-16 units. */
export type Span = readonly [from: number, to: number];

const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
/** Lines longer than this are shown whole: nobody reads the difference of two minified lines. */
const LINE_MAX = 1_000;
/** Words of what differs in the middle: the table of the comparison has the square of it. */
const WORDS_MAX = 150;
/** Below this share of kept text the two lines have nothing to do with each other. */
const ALIKE = 0.35;

/**
 * What of a line is not in its counterpart, word by word.
 * @returns for the removed and for the added line; nothing when the lines are too different or too long for it
 */
export function emphasize(removed: string, added: string): { removed: Span[]; added: Span[] } {
  const none = { removed: [], added: [] };
  if (removed.length > LINE_MAX || added.length > LINE_MAX) return none;
  const [a, b] = [wordsOf(removed), wordsOf(added)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (middleA.length > WORDS_MAX || middleB.length > WORDS_MAX) return none;
  const kept = commonWords(middleA, middleB);
  const before = lengthOf(a.slice(0, start));
  const after = lengthOf(a.slice(a.length - end));
  const common = before + after + kept.reduce((sum, [i]) => sum + (middleA[i] ?? "").trim().length, 0);
  if (common < ALIKE * Math.max(removed.trim().length, added.trim().length)) return none;
  return {
    removed: gaps(middleA, new Set(kept.map(([i]) => i)), before),
    added: gaps(middleB, new Set(kept.map(([, j]) => j)), before),
  };
}

function wordsOf(line: string): string[] {
  return line.match(WORD) ?? [];
}

function lengthOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.length, 0);
}

/** Places of the longest common sequence of words. */
function commonWords(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number) => table[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}

/** The words that are not kept, neighbours as one; a blank between two of them belongs to them. */
function gaps(words: readonly string[], kept: ReadonlySet<number>, from: number): Span[] {
  const spans: [number, number][] = [];
  let at = from;
  for (const [i, word] of words.entries()) {
    const isBlank = word.trim() === "" && !kept.has(i + 1) && i + 1 < words.length;
    const last = spans.at(-1);
    if (!kept.has(i) || (isBlank && last?.[1] === at)) {
      if (last?.[1] === at) last[1] = at + word.length;
      else spans.push([at, at + word.length]);
    }
    at += word.length;
  }
  return spans;
}
