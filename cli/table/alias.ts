import { bind, type Group, spec } from "../spec.ts";

const NAME = {
  name: "name",
  summary: "The name: lower-case letters, digits and dashes",
  required: true,
} as const;

export const set = spec({
  path: ["alias", "set"],
  aliases: ["add"],
  summary: "Define a shorter name for a command line",
  about: [
    "`$1` to `$9` in the command are the words that follow the name; those that it does not use are added at the end. The name of a command cannot be an alias. Aliases are in svc's configuration, and not used in a sandbox.",
  ],
  args: [NAME, { name: "command", summary: "A command line without `svc`, in quotes", required: true }],
  flags: {},
  fields: ["name", "command"],
  examples: [
    ["svc alias set co 'cr checkout'", "`svc co 3` is `svc cr checkout 3`"],
    ["svc alias set why 'cr comment $1 \"Why $2?\"'", "`svc why 3 now` comments on change request 3"],
  ],
});

export const ls = spec({
  path: ["alias", "ls"],
  summary: "List your aliases",
  args: [],
  flags: {},
  fields: ["name", "command"],
  examples: [
    ["svc alias ls", "All aliases"],
    ["svc alias ls --jq '.[].name'", "Only their names"],
  ],
});

export const rm = spec({
  path: ["alias", "rm"],
  summary: "Remove an alias",
  args: [NAME],
  flags: {},
  fields: ["name", "removed"],
  examples: [
    ["svc alias rm co", "Remove it"],
    ["svc alias rm co --json", "With JSON output"],
  ],
});

export const alias: Group = {
  name: "alias",
  summary: "Shorter names for command lines",
  commands: [
    bind(set, () => import("../commands/alias.ts").then((module) => module.set)),
    bind(ls, () => import("../commands/alias.ts").then((module) => module.ls)),
    bind(rm, () => import("../commands/alias.ts").then((module) => module.rm)),
  ],
};
