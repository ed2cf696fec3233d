/** A range of a line: start, and end (exclusive), in UTF-16 code units. */
export type Span = readonly [from: number, to: number];

const WORD = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
/** Longer lines, such as minified ones, are not compared. */
const LINE_MAX = 1_000;
/** Maximum number of words to compare: time and memory are quadratic. */
const WORDS_MAX = 150;
/** Lines with a smaller share of common text are not highlighted. */
const SIMILARITY_MIN = 0.35;

/**
 * Compares a removed and an added line word by word.
 * @returns the changed ranges of each line; empty if the lines are too different or too long
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
  if (common < SIMILARITY_MIN * Math.max(removed.trim().length, added.trim().length)) return none;
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

/** Index pairs of the longest common subsequence of words. */
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

/** Ranges of the words that are not kept. Adjacent words, with the blanks between them, form one range. */
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
