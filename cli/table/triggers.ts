import { bind, type Group, spec } from "../spec.ts";
import { FIRED_FIELDS, SWITCHED_FIELDS, TRIGGER_DETAIL_FIELDS, TRIGGER_FIELDS } from "./trigger-fields.ts";

const SLUG = { name: "slug", summary: "The trigger, by its slug in svc.toml", required: true } as const;

const SWITCHING =
  "The default branch is not written directly: the value in svc.toml is changed on a new branch, and a change request is opened. For a user it is merged at once. For an agent, or where a merge needs approvals, it stays open, and the command reports that.";

export const ls = spec({
  path: ["triggers", "ls"],
  summary: "List the triggers of the default branch and when they fire",
  about: ["Also reports errors in svc.toml on the default branch; `svc validate` prints their lines."],
  args: [],
  flags: {},
  fields: TRIGGER_FIELDS,
  examples: [
    ["svc triggers ls", "List all"],
    ["svc triggers ls --jq '.[] | select(.last_error) | .slug'", "Triggers that could not fire"],
  ],
});

export const info = spec({
  path: ["triggers", "info"],
  summary: "Show a trigger with its last firings and missed ones",
  args: [SLUG],
  flags: {},
  fields: TRIGGER_DETAIL_FIELDS,
  examples: [
    ["svc triggers info nightly", "Show one"],
    ["svc triggers info deploy --jq .webhook_url", "Its webhook URL"],
  ],
});

export const fire = spec({
  path: ["triggers", "fire"],
  guesses: ["run"],
  summary: "Start a trigger's session now",
  about: [
    "Also works for a disabled trigger. The session belongs to you. If the account has no free slot, it waits for up to an hour.",
  ],
  args: [SLUG],
  flags: {
    text: {
      kind: "string",
      value: "text",
      summary: "Replaces `{{ text }}` in its prompt, or is added at the end; `-` reads standard input",
    },
  },
  fields: FIRED_FIELDS,
  examples: [
    ["svc triggers fire nightly", "Start it now"],
    ['svc triggers fire review --text "Only src/"', "With your own text"],
  ],
});

export const enable = spec({
  path: ["triggers", "enable"],
  summary: "Enable a trigger, by a change request to svc.toml",
  about: [SWITCHING],
  args: [SLUG],
  flags: {},
  fields: SWITCHED_FIELDS,
  examples: [
    ["svc triggers enable nightly", "It fires after the merge"],
    ["svc triggers enable nightly --jq .status", "Print merged, open or unchanged"],
  ],
});

export const disable = spec({
  path: ["triggers", "disable"],
  summary: "Disable a trigger, by a change request to svc.toml",
  about: [SWITCHING],
  args: [SLUG],
  flags: {},
  fields: SWITCHED_FIELDS,
  examples: [
    ["svc triggers disable nightly", "It stops firing after the merge"],
    ["svc triggers disable nightly --jq .change_request.number", "Print the number of the change request"],
  ],
});

export const triggers: Group = {
  name: "triggers",
  summary: "Sessions that start on a schedule or by a webhook",
  commands: [
    bind(ls, () => import("../commands/triggers/ls.ts").then((module) => module.ls)),
    bind(info, () => import("../commands/triggers/info.ts").then((module) => module.info)),
    bind(fire, () => import("../commands/triggers/fire.ts").then((module) => module.fire)),
    bind(enable, () => import("../commands/triggers/switch.ts").then((module) => module.enable)),
    bind(disable, () => import("../commands/triggers/switch.ts").then((module) => module.disable)),
  ],
};
