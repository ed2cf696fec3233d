import type { Label } from "../../src/contract/label.ts";
import { bind, type Group, spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";

const LABEL_FIELDS = fieldsOf<Label>()(["name", "color", "description"]);

const LABEL = { name: "label", summary: "The label, by its name", required: true } as const;

const COLOR_AND_DESCRIPTION = {
  hex: { kind: "string", value: "color", short: "c", summary: "Six hex digits, such as d73a4a" },
  description: {
    kind: "string",
    value: "text",
    short: "d",
    summary: "What it is for, in up to 100 characters",
    empty: true,
  },
} as const;

/** Several names: `--label bug,ui`, or the flag several times. */
export const namesFlag = (summary: string) =>
  ({ kind: "string", value: "names", many: true, summary: `${summary}; comma-separated` }) as const;

export const ls = spec({
  path: ["labels", "ls"],
  summary: "List the labels of the project",
  args: [],
  flags: {},
  fields: LABEL_FIELDS,
  examples: [
    ["svc labels ls", "List all"],
    ["svc labels ls --jq '.[].name'", "Only the names"],
  ],
});

export const create = spec({
  path: ["labels", "new"],
  aliases: ["create", "add"],
  summary: "Create a label",
  args: [{ name: "name", summary: "Up to 50 characters, without commas", required: true }],
  flags: COLOR_AND_DESCRIPTION,
  fields: LABEL_FIELDS,
  examples: [
    ["svc labels new bug --hex d73a4a", "With a color"],
    ['svc labels new ui --description "Pages and styles"', "With a description"],
  ],
});

export const edit = spec({
  path: ["labels", "edit"],
  summary: "Rename a label, or change its color or description",
  about: ["Change requests keep the label. Only people can change one, not agents."],
  args: [LABEL],
  flags: {
    name: { kind: "string", value: "name", short: "n", summary: "The new name" },
    ...COLOR_AND_DESCRIPTION,
  },
  fields: LABEL_FIELDS,
  examples: [
    ["svc labels edit bug --name defect", "Rename it"],
    ["svc labels edit bug --hex 0e8a16", "Another color"],
  ],
});

export const rm = spec({
  path: ["labels", "rm"],
  summary: "Delete a label, and take it off all change requests",
  about: ["Only people can delete one, not agents."],
  args: [LABEL],
  flags: {},
  fields: ["name", "removed"],
  examples: [
    ["svc labels rm bug", "Delete it"],
    ["svc labels rm bug --json", "With JSON output"],
  ],
});

export const labels: Group = {
  name: "labels",
  summary: "Labels of change requests",
  commands: [
    bind(ls, () => import("../commands/labels/ls.ts").then((module) => module.ls)),
    bind(create, () => import("../commands/labels/new.ts").then((module) => module.create)),
    bind(edit, () => import("../commands/labels/edit.ts").then((module) => module.edit)),
    bind(rm, () => import("../commands/labels/rm.ts").then((module) => module.rm)),
  ],
};
