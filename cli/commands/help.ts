import { nearest } from "../../src/contract/nearest.ts";
import { usage } from "../failure.ts";
import { helpFor } from "../help.ts";
import { type Command, type Group, type Handler, isGroup, nameOf, namesOf } from "../spec.ts";
import type * as tools from "../table/tools.ts";
import { TABLE } from "../table.ts";
import { TOPICS } from "../topics.ts";

export const help: Handler<typeof tools.help> = async ({ system }, { args }) => {
  const [first, second, ...rest] = args["topic-or-command"];
  if (first === undefined) return system.stdout.write(helpFor(null));
  const topic = second === undefined ? TOPICS[first] : undefined;
  if (topic !== undefined) return system.stdout.write(topic);
  const node = lookUp(TABLE, first, "");
  if (second === undefined) return system.stdout.write(helpFor(node));
  if (!isGroup(node)) throw unknown([first, second, ...rest], undefined);
  // a command may have two words
  const name = [second, ...rest].join(" ");
  await system.stdout.write(helpFor(lookUp(node.commands, name, `${first} `)));
};

function lookUp(nodes: readonly (Group | Command)[], word: string, prefix: string): Group | Command {
  const found = nodes.find((node) =>
    isGroup(node) ? node.name === word : namesOf(node.spec).includes(word),
  );
  if (found) return found;
  const names = nodes.filter((node) => isGroup(node) || !(node.spec.hidden || node.spec.anyName)).map(nameOf);
  const guess = nearest(word, prefix === "" ? [...names, ...Object.keys(TOPICS)] : names);
  throw unknown([prefix.trim(), word], guess && `${prefix}${guess}`);
}

function unknown(words: readonly (string | undefined)[], guess: string | undefined) {
  const topic = words.filter(Boolean).join(" ");
  return usage(
    `Unknown help topic: ${topic}`,
    guess === undefined ? "`svc help` lists commands and topics." : `Did you mean \`svc help ${guess}\`?`,
  );
}
