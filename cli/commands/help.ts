import { nearest } from "../../src/contract/nearest.ts";
import { usage } from "../failure.ts";
import { helpFor } from "../help.ts";
import { entryOf, lookUp } from "../lookup.ts";
import { type Handler, isGroup, nameOf } from "../spec.ts";
import type * as tools from "../table/tools.ts";
import { TABLE } from "../table.ts";
import { TOPICS } from "../topics.ts";

export const help: Handler<typeof tools.help> = async ({ system }, { args }) => {
  const words = args["topic-or-command"];
  const [first, ...rest] = words;
  if (first === undefined) return system.stdout.write(helpFor(null));
  const topic = rest.length === 0 ? TOPICS[first] : undefined;
  if (topic !== undefined) return system.stdout.write(topic);
  const found = lookUp(TABLE, words);
  if (found?.taken !== words.length) throw unknown(words);
  await system.stdout.write(helpFor(found.node));
};

function unknown([first = "", ...rest]: readonly string[]) {
  const group = entryOf(TABLE, first);
  const inGroup = rest.length > 0 && group !== undefined && isGroup(group);
  const nodes = inGroup
    ? group.commands
    : TABLE.filter((node) => isGroup(node) || !(node.spec.hidden || node.spec.anyName));
  const names = [...nodes.map(nameOf), ...(inGroup ? [] : Object.keys(TOPICS))];
  const guess = nearest(inGroup ? rest.join(" ") : first, names);
  return usage(
    `Unknown help topic: ${[first, ...rest].join(" ")}`,
    guess === undefined
      ? "`svc help` lists commands and topics."
      : `Did you mean \`svc help ${inGroup ? `${group.name} ` : ""}${guess}\`?`,
  );
}
