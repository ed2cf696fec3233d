import { editDistance, nearest } from "../src/contract/nearest.ts";
import { HINTS } from "./hints.ts";
import { commandOf, entryOf, lookUp, type Table } from "./lookup.ts";
import { type Group, isGroup, lastWord, nameOf, namesOf } from "./spec.ts";
import { DELETING, PLANNED, PROGRAMS, PROJECT_NAMES, READING, SYNONYMS } from "./words.ts";

/**
 * The hint for a line whose first word is not a command but is like one: a word of other tools, a command without its group,
 * or a typo. Such a word is never the name of a new project, and nothing runs.
 */
export function hintFor(table: Table, path: readonly string[]): string | undefined {
  const words = path
    .map((word) => word.toLowerCase())
    .flatMap((word, at) => (at === 0 ? word.split(":") : word));
  const [first = "", ...rest] = words;
  const second = rest[0] ?? "";
  if (first === "git")
    return /^[a-z-]{2,20}$/.test(second) ? didYouMean([`git ${second}`]) : "git runs without svc.";
  if (PROGRAMS.has(first) && rest.length > 0) return answerTo(table, rest);
  if (/\s/.test(first)) return `To give an agent this task: \`svc sessions new --prompt <text>\`.`;
  const known = hintOf(table, words) ?? swapped(table, words) ?? hintOf(table, [first], rest);
  if (known !== undefined) return known;
  const group = entryOf(table, first);
  if (group !== undefined) return answerTo(table, words);
  const inGroups = groupCommands(table, first);
  if (inGroups.length > 0) return didYouMean(inGroups.slice(0, SHOWN));
  if (PROJECT_NAMES.has(first)) return undefined;
  const near = typoOf(first, namesIn(table)) ?? [...PLANNED].find((name) => isTypo(first, name));
  return near === undefined ? undefined : suggest(table, `svc ${near}`, rest);
}

/** The hint for a word that is not a command of the group. */
export function hintInGroup(table: Table, group: Group, [word = ""]: readonly string[]): string {
  const hint = hintOf(table, [group.name, word]);
  if (hint !== undefined) return hint;
  const list = commandOf(group, ["ls"]);
  if (READING.has(word) && list) return didYouMean([`svc ${group.name} ${lastWord(list.spec)}`]);
  const ofCr = OF_CR[group.name];
  if (/^#?\d+$/.test(word) && ofCr !== undefined) return didYouMean([`svc cr ${ofCr} ${word}`]);
  const synonyms = Object.keys(SYNONYMS).filter((verb) => commandOf(group, [verb]));
  const names = [...group.commands.flatMap(({ spec }) => namesOf(spec)), ...synonyms];
  // a word of another group, or of another tool, is not a typo
  const near = isVerb(table, word) ? undefined : typoOf(word, names);
  const meant = near === undefined ? undefined : commandOf(group, near.split(" "));
  if (meant === undefined) return `Run \`svc ${group.name} --help\` for the list.`;
  return didYouMean([`svc ${group.name} ${lastWord(meant.spec)}`]);
}

/** The command for the number of a change request after the name of a group. */
const OF_CR: Readonly<Record<string, string>> = { cr: "show", checks: "checks" };
/** Suggestions in one hint. */
const SHOWN = 4;
/** A short word is near too many others. */
const isTypo = (word: string, name: string): boolean => name.length > 4 && editDistance(word, name) <= 2;

/** The answer to the line of another program, or to one in another case: as svc would read it. */
function answerTo(table: Table, path: readonly string[]): string | undefined {
  const found = lookUp(table, path);
  if (found !== undefined) {
    const { node } = found;
    return didYouMean([`svc ${isGroup(node) ? node.name : node.spec.path.join(" ")}`]);
  }
  const [first = "", ...rest] = path;
  const group = entryOf(table, first);
  return group !== undefined && isGroup(group) ? hintInGroup(table, group, rest) : hintFor(table, path);
}

function hintOf(table: Table, line: readonly string[], rest: readonly string[] = []): string | undefined {
  const words = line.slice(0, 2).join(" ");
  return Object.hasOwn(HINTS, words) ? suggest(table, HINTS[words] ?? "", rest) : undefined;
}

/** `list prs`, `create session`: the verb before its noun. A verb that reads, without a name, lists. */
function swapped(table: Table, [verb = "", noun = "", name]: readonly string[]): string | undefined {
  if (!isVerb(table, verb) || noun === "") return undefined;
  const meant = READING.has(verb) && name === undefined ? "ls" : verb;
  const group = entryOf(table, noun);
  if (group !== undefined && isGroup(group)) return answerTo(table, [group.name, meant]);
  const other = Object.hasOwn(HINTS, noun) ? HINTS[noun] : undefined;
  return other !== undefined && /^svc \w+$/.test(other) ? suggest(table, other, [meant]) : undefined;
}

/** Whether a word is a verb of svc or of another tool. */
function isVerb(table: Table, word: string): boolean {
  return (
    Object.hasOwn(SYNONYMS, word) ||
    READING.has(word) ||
    table.some((each) => isGroup(each) && each.commands.some(({ spec }) => namesOf(spec).includes(word)))
  );
}

/** The name that was mistyped. To delete something must not be the answer to a word that could be another. */
function typoOf(word: string, names: readonly string[]): string | undefined {
  const isSafe = (name: string) =>
    !DELETING.has(name) || (word.length > 4 && word[0] === name[0] && editDistance(word, name) === 1);
  return nearest(word, names.filter(isSafe));
}

function suggest(table: Table, guess: string, rest: readonly string[]): string {
  const [program, name = "", ...more] = guess.split(" ");
  if (program !== "git" && program !== "svc") return guess;
  if (program === "svc" && PLANNED.has(name) && !namesIn(table).includes(name)) return notYet(guess);
  const group = table.find((each): each is Group => isGroup(each) && each.name === name);
  if (group === undefined || more.length > 0 || rest.length === 0) return didYouMean([guess]);
  const command = commandOf(group, rest);
  if (command !== undefined) return didYouMean([`${guess} ${lastWord(command.spec)}`]);
  return hintInGroup(table, group, rest);
}

/** The sentence for a command that this version does not have. */
export const notYet = (command: string): string => `\`${command}\` is not part of this version of svc.`;

/** `svc sessions logs` and `svc apps logs` for `logs`. Names and documented aliases before guesses. */
function groupCommands(table: Table, word: string): string[] {
  const all = table.filter(isGroup).flatMap((group) => group.commands.map(({ spec }) => ({ group, spec })));
  const exact = all.filter(({ spec }) => [lastWord(spec), ...(spec.aliases ?? [])].includes(word));
  const found =
    exact.length > 0 ? exact : all.filter(({ group, spec }) => commandOf(group, [word])?.spec === spec);
  return found.map(({ group, spec }) => `svc ${group.name} ${lastWord(spec)}`);
}

const namesIn = (table: Table): string[] =>
  table.flatMap((each) => {
    if (isGroup(each)) return [nameOf(each)];
    return each.spec.hidden || each.spec.anyName ? [] : namesOf(each.spec);
  });

const didYouMean = (commands: readonly string[]): string =>
  `Did you mean ${commands.map((each) => `\`${each}\``).join(" or ")}?`;
