/** The options of `npm test`. */
export interface Options {
  /** Substrings of the names of files and checks; empty: all. */
  patterns: string[];
  /** A substring of the names of tests to run. */
  only: string | null;
  /** The seed of property tests; null: derived from the commit. */
  seed: number | null;
  /** The number of runs. */
  repeat: number;
  /** Number of busy loops that run in parallel. */
  load: number;
  /** Runs property and fault tests in full length. */
  full: boolean;
  /** Overrides the number of runs of each property. */
  runs: number | null;
  /** Stores the duration of each file, which determines the order of later runs. */
  record: boolean;
}

export const USAGE = `npm test -- [options] [part of a name ...]

  npm test                            everything: the checks, then all test files
  npm test -- merge biome             the files and checks whose names contain one of these words
  npm test -- --only "is refused"     only the tests whose names contain this text
  npm test -- --seed 7                use this seed instead of the commit's
  npm test -- --repeat 50 push.test   find flaky tests: 50 runs with different seeds
  npm test -- --load 2                run two busy loops in parallel
  npm test -- --full                  property and fault tests in full length, as before a release
  npm test -- --runs 500 parity       run each property 500 times
  npm test -- --record                write test/durations.json, which determines the order of files
`;

/** @throws Error with a message of one line */
export function readArguments(argv: readonly string[]): Options | "help" {
  const wanted: Options = {
    patterns: [],
    only: null,
    seed: null,
    repeat: 1,
    load: 0,
    full: false,
    runs: null,
    record: false,
  };
  const words = argv.flatMap((word) => /^(--[a-z]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "--help" || word === "-h") return "help";
    if (word === "--full") wanted.full = true;
    else if (word === "--record") wanted.record = true;
    else if (word === "--only") wanted.only = textAfter(word, words.shift());
    else if (word === "--seed") wanted.seed = numberAfter(word, words.shift(), 0);
    else if (word === "--repeat") wanted.repeat = numberAfter(word, words.shift(), 1);
    else if (word === "--load") wanted.load = numberAfter(word, words.shift(), 0);
    else if (word === "--runs") wanted.runs = numberAfter(word, words.shift(), 1);
    else if (word.startsWith("-")) throw new Error(`unknown option ${word}; npm test -- --help lists them`);
    else wanted.patterns.push(word);
  }
  return wanted;
}

function textAfter(option: string, text: string | undefined): string {
  if (!text) throw new Error(`${option} needs a value`);
  return text;
}

function numberAfter(option: string, text: string | undefined, least: number): number {
  const number = Number(textAfter(option, text));
  if (!Number.isSafeInteger(number) || number < least)
    throw new Error(`${option} must be an integer of at least ${least}, not "${text}"`);
  return number;
}
