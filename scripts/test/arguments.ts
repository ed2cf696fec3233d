/** What `npm test` was asked to do. */
export interface Wanted {
  /** Parts of names of files and checks; none: everything. */
  patterns: string[];
  /** Only the tests with this in their names. */
  only: string | null;
  /** From where properties draw; null: from the commit. */
  seed: number | null;
  /** How often everything that was asked for runs. */
  repeat: number;
  /** Busy loops beside it. */
  load: number;
  /** Properties and faults in their whole length. */
  full: boolean;
  /** Another number of runs for each property. */
  runs: number | null;
  /** Writes down how long each file took, by which the next runs are put in order. */
  record: boolean;
}

export const USAGE = `npm test -- [options] [part of a name ...]

  npm test                            everything: the checks, then every file of tests
  npm test -- merge biome             the files and checks with one of these words in their names
  npm test -- --only "is refused"     only the tests with this in their names
  npm test -- --seed 7                draw from this seed instead of the commit's
  npm test -- --repeat 50 push.test   look for chance: 50 times, each from another seed
  npm test -- --load 2                with two busy loops beside it
  npm test -- --full                  properties and faults in their whole length, as before a release
  npm test -- --runs 500 parity       each property 500 times
  npm test -- --record                write test/durations.json, by which files are put in order
`;

/** @throws Error one line about what is wrong */
export function readArguments(argv: readonly string[]): Wanted | "help" {
  const wanted: Wanted = {
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
    throw new Error(`${option} needs a whole number from ${least}, not "${text}"`);
  return number;
}
