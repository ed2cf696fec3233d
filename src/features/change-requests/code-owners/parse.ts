import { shorten } from "../../../http/text.ts";
import { type Matcher, matcherOf } from "./pattern.ts";

/** A line of a CODEOWNERS file. */
interface Rule {
  /** Counted from 1. */
  line: number;
  matches: Matcher;
  /** As written: `@name` or an e-mail address. */
  owners: string[];
  /** False: the line names nobody, not even somebody invalid, so that these files have no owner. */
  isOwned: boolean;
}

export interface OwnersProblem {
  line: number;
  message: string;
}

export interface ParsedOwners {
  rules: Rule[];
  problems: OwnersProblem[];
  /** The last line whose pattern is unknown: it could decide about files that no later line matches. 0: none. */
  unreadLine: number;
}

/** Lines with a pattern; each changed file is compared with them. */
const RULES_MAX = 2_000;
/** Characters of a pattern. */
const PATTERN_MAX = 1_024;

/**
 * Parses a CODEOWNERS file in GitHub's syntax. A line whose pattern is invalid is left out, and an owner that is invalid is
 * left out of its line.
 */
export function parseOwners(text: string): ParsedOwners {
  const rules: Rule[] = [];
  const problems: OwnersProblem[] = [];
  let unreadLine = 0;
  for (const [at, written] of text.split("\n").entries()) {
    const line = at + 1;
    const [pattern, ...words] = wordsOf(written);
    if (pattern === undefined) continue;
    if (rules.length === RULES_MAX) {
      unreadLine = line;
      problems.push({
        line,
        message: `The file can have ${RULES_MAX} patterns. This line and later ones are ignored.`,
      });
      break;
    }
    const invalid = patternProblem(pattern);
    if (invalid !== null) {
      unreadLine = line;
      problems.push({
        line,
        message: `Invalid pattern "${shorten(pattern)}": ${invalid}. The line is ignored.`,
      });
      continue;
    }
    const owners = words.filter((word) => ownerProblem(word) === null);
    for (const word of words) {
      const wrong = ownerProblem(word);
      if (wrong !== null) problems.push({ line, message: `Invalid owner "${shorten(word)}": ${wrong}.` });
    }
    rules.push({ line, matches: matcherOf(pattern), owners, isOwned: words.length > 0 });
  }
  return { rules, problems, unreadLine };
}

/** The words of a line before a comment. A backslash makes a space part of a word. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:\\\s|\S)+/g) ?? [];
  const comment = words.findIndex((word) => word.startsWith("#"));
  return words.slice(0, comment === -1 ? undefined : comment).map((word) => word.replace(/\\(\s)/g, "$1"));
}

function patternProblem(pattern: string): string | null {
  if (pattern.length > PATTERN_MAX) return `it must have at most ${PATTERN_MAX} characters`;
  if (pattern.startsWith("!")) return "a pattern cannot be negated with !";
  if (/[[\]]/.test(pattern)) return "ranges of characters, in [ ], are not supported";
  if (pattern.startsWith("\\#")) return "a pattern cannot begin with #";
  if (/^\/*$/.test(pattern)) return "it names no file; all files are *";
  return null;
}

function ownerProblem(word: string): string | null {
  if (/^@[^/@]+\/./.test(word)) return "teams are not supported. Name members of the account";
  if (/^@[^@]/.test(word) || /^[^@\s]+@[^@\s]+$/.test(word)) return null;
  return "an owner is @name or an e-mail address";
}
