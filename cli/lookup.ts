import { HINTS } from "./hints.ts";
import { type Command, type Group, isGroup, lastWord, namesOf } from "./spec.ts";
import { GROUP_NAMES, SHORTHANDS, SYNONYMS } from "./words.ts";

export type Table = readonly (Group | Command)[];

/** What the first words of a line name, and how many of them. A group without one of its commands has one. */
export interface Found {
  node: Group | Command;
  taken: number;
}

/** Undefined if the words do not name a command, and for a line that has an answer instead (`cli/hints.ts`). */
export function lookUp(table: Table, path: readonly string[]): Found | undefined {
  const [first = "", ...rest] = path;
  const node = entryOf(table, first);
  if (node === undefined || hintOf(node, path) !== undefined) return undefined;
  if (!isGroup(node)) return { node, taken: 1 };
  const command = commandOf(node, rest);
  if (command !== undefined) return { node: command, taken: isTwoWords(command, rest) ? 3 : 2 };
  return rest.length === 0 ? { node, taken: 1 } : undefined;
}

/** The group or the command that one word names: by its own name, an alias, the other number, or a shorthand. */
export function entryOf(table: Table, word: string): Group | Command | undefined {
  const named = table.find((each) =>
    isGroup(each) ? each.name === word : !each.spec.anyName && namesOf(each.spec).includes(word),
  );
  if (named !== undefined) return named;
  const group = groupOf(table, word);
  if (group !== undefined || !Object.hasOwn(SHORTHANDS, word)) return group;
  const [name = "", command = ""] = SHORTHANDS[word] ?? [];
  const owner = groupOf(table, name);
  return owner && commandOf(owner, [command]);
}

/** The command of a group that the words name: two words first, such as `env ls`, then one, then a synonym of one. */
export function commandOf(group: Group, [first = "", second]: readonly string[]): Command | undefined {
  const named = (name: string) => group.commands.find((each) => namesOf(each.spec).includes(name));
  return (
    (second === undefined ? undefined : named(`${first} ${second}`)) ?? named(first) ?? synonym(group, first)
  );
}

function groupOf(table: Table, word: string): Group | undefined {
  const name = Object.hasOwn(GROUP_NAMES, word) ? GROUP_NAMES[word] : word;
  return table.find(
    (each): each is Group =>
      isGroup(each) && (each.name === name || each.name === `${name}s` || `${each.name}s` === name),
  );
}

/** The only command of the group with this meaning. */
function synonym(group: Group, verb: string): Command | undefined {
  const meant = Object.hasOwn(SYNONYMS, verb) ? (SYNONYMS[verb] ?? []) : [];
  const found = group.commands.filter(({ spec }) =>
    [lastWord(spec), ...(spec.aliases ?? [])].some((name) => meant.includes(name)),
  );
  return found.length === 1 ? found[0] : undefined;
}

/** The answer to a line of exactly these words. */
function hintOf(node: Group | Command, path: readonly string[]): string | undefined {
  if (path.length !== 2) return undefined;
  const line = `${isGroup(node) ? node.name : path[0]} ${path[1]}`;
  return Object.hasOwn(HINTS, line) ? HINTS[line] : undefined;
}

const isTwoWords = (command: Command, [first, second]: readonly string[]): boolean =>
  namesOf(command.spec).includes(`${first} ${second}`);
