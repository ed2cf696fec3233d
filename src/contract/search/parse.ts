import { SEARCH_MAX, SEARCH_TERMS_MAX } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { rangeOf } from "./dates.ts";
import {
  ALIASES,
  choicesOf,
  isQualifier,
  QUALIFIERS,
  type QualifierName,
  SORTS,
  type Sort,
} from "./qualifiers.ts";

/** A condition: `text` is a part of the title or of a branch, or `#number`. All terms of a search must hold. */
export interface Term {
  name: QualifierName | "text";
  value: string;
  /** It must not hold. */
  not: boolean;
}

/** A search for change requests. */
export interface Search {
  terms: readonly Term[];
  /** Undefined: as the list is sorted. */
  sort?: Sort;
}

/** A search, or what is wrong with its text, in a sentence. */
export type Parsed = { search: Search } | { problem: string };

/** A word as it is written: `-name:value`, with the value in quotes or not. */
interface Word {
  not: boolean;
  /** Before a colon, in lower case; null: the word is text. */
  name: string | null;
  value: string;
  /** As it was written, for messages. */
  written: string;
}

/** Letters before a colon; a time or a path is text. */
const NAME = /^([a-z][a-z_-]*):/i;
const WORD = /(-(?=[^\s-]))?(?:([a-z][a-z_-]*):)?(?:"((?:[^"\\]|\\.)*)"(?!\S)|(?!")(\S*))(?:\s+|$)/iuy;
/** What the expression above takes as text where a quote is not closed. */
const UNCLOSED = /^-?(?:[a-z][a-z_-]*:)?"/i;

/** Reads the text of a search. It throws nothing, whatever the text is. */
export function parseSearch(text: string): Parsed {
  const line = text.replaceAll("\0", "").trim();
  if (line.length > SEARCH_MAX) return { problem: `A search has at most ${SEARCH_MAX} characters.` };
  const terms: Term[] = [];
  let sort: Sort | undefined;
  WORD.lastIndex = 0;
  while (WORD.lastIndex < line.length) {
    const at = WORD.lastIndex;
    const word = wordOf(WORD.exec(line));
    if (word === null) return { problem: unclosed(line.slice(at)) };
    if (terms.length === SEARCH_TERMS_MAX)
      return { problem: `A search has at most ${SEARCH_TERMS_MAX} words and qualifiers.` };
    if (word.name === "sort") {
      const sorted = sortOf(word, sort);
      if ("problem" in sorted) return sorted;
      sort = sorted.sort;
      continue;
    }
    const read = termOf(word);
    if ("problem" in read) return read;
    if (read.term.value !== "" || read.term.name !== "text") terms.push(read.term);
  }
  return { search: sort === undefined ? { terms } : { terms, sort } };
}

/** Writes a search so that it is read as the same again. */
export function printSearch({ terms, sort }: Search): string {
  const words = terms.map(({ name, value, not }) => {
    const minus = not ? "-" : "";
    return name === "text" ? minus + textWord(value) : `${minus}${name}:${valueWord(value)}`;
  });
  return [...words, ...(sort ? [`sort:${sort}`] : [])].join(" ");
}

function textWord(text: string): string {
  return text.startsWith("-") || NAME.test(text) ? quoted(text) : valueWord(text);
}

const valueWord = (text: string): string => (text === "" || /^"|\s/u.test(text) ? quoted(text) : text);
const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

function wordOf(match: RegExpExecArray | null): Word | null {
  if (match === null) return null;
  const [written, minus, name, inQuotes, bare = ""] = match;
  if (name === undefined && UNCLOSED.test(bare)) return null;
  const value = inQuotes === undefined ? bare : inQuotes.replace(/\\(.)/gsu, "$1");
  return { not: minus !== undefined, name: name?.toLowerCase() ?? null, value, written: written.trim() };
}

function termOf({ not, name, value, written }: Word): { term: Term } | { problem: string } {
  if (name === null) return { term: { name: "text", value, not } };
  const known = resolve(name, value);
  if (known === null) return { problem: unknownName(name, written) };
  if (value === "") return { problem: `\`${name}:\` lacks a value. ${takes(known)}` };
  const choices = choicesOf(known);
  if (choices !== null) {
    const chosen = choices.find((each) => each === value.toLowerCase());
    if (chosen === undefined) return { problem: unknownValue(name, value, allChoices(name, known)) };
    return { term: { name: known, value: chosen, not } };
  }
  if (QUALIFIERS[known].takes.kind === "date" && rangeOf(value) === null)
    return {
      problem: `\`${written}\` is not a date. Write a day as ${name}:2026-01-31, a comparison as ${name}:>=2026-01-31, or a range as ${name}:2026-01-01..2026-01-31; also with a time, as in 2026-01-31T12:00:00Z.`,
    };
  return { term: { name: known, value, not } };
}

function resolve(name: string, value: string): QualifierName | null {
  if (isQualifier(name)) return name;
  const meant = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [];
  return meant.find((each) => choicesOf(each)?.includes(value.toLowerCase())) ?? meant[0] ?? null;
}

function allChoices(name: string, known: QualifierName): readonly string[] {
  const meant = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? []) : [known];
  return [...new Set(meant.flatMap((each) => choicesOf(each) ?? []))];
}

function sortOf({ not, value }: Word, before: Sort | undefined): { sort: Sort } | { problem: string } {
  if (not)
    return { problem: "`sort:` cannot be negated. Reverse the order instead, as in sort:created-asc." };
  if (before !== undefined) return { problem: "A search has one `sort:`." };
  const sort = SORTS.find((each) => each === value.toLowerCase());
  return sort ? { sort } : { problem: unknownValue("sort", value, SORTS) };
}

function takes(name: QualifierName): string {
  const choices = choicesOf(name);
  return choices ? `It is one of ${choices.join(", ")}.` : `It is ${QUALIFIERS[name].about}.`;
}

function unknownName(name: string, written: string): string {
  const names = [...Object.keys(QUALIFIERS), ...Object.keys(ALIASES), "sort"];
  const near = nearest(name, names);
  const meant = near ? `Did you mean \`${near}:\`?` : `The qualifiers are ${names.join(", ")}.`;
  return `\`${name}:\` is not a qualifier. ${meant} To search for the text, put it in quotes: ${quoted(written.replace(/^-/, ""))}`;
}

function unknownValue(name: string, value: string, choices: readonly string[]): string {
  const near = nearest(value, choices);
  const meant = near ? `Did you mean ${name}:${near}?` : `It is one of ${choices.join(", ")}.`;
  return `\`${name}:\` does not take \`${value}\`. ${meant}`;
}

function unclosed(rest: string): string {
  return /^-?(?:[a-z][a-z_-]*:)?"(?:[^"\\]|\\.)*"/isu.test(rest)
    ? `A space is required after the closing quote in \`${rest}\`.`
    : `A quote is not closed: \`${rest}\`. To search for the character, write "\\"".`;
}
