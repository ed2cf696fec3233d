import type { Fired, Switched, Trigger, TriggerDetail } from "../../src/contract/trigger.ts";
import { bind, type Group, spec } from "../spec.ts";

const SLUG = { name: "slug", summary: "The trigger, by its slug in svc.toml", required: true } as const;

const TRIGGER_FIELDS = [
  "slug",
  "name",
  "type",
  "agent",
  "model",
  "enabled",
  "cron",
  "timezone",
  "next_fire_at",
  "last_fired_at",
  "last_error",
  "webhook_url",
] as const satisfies readonly (keyof Trigger)[];

const SWITCHED_FIELDS = [
  "slug",
  "enabled",
  "status",
  "reason",
  "change_request",
] as const satisfies readonly (keyof Switched)[];

const SWITCHING =
  "The default branch is never written on the side: that one value of svc.toml is changed on a branch of its own, and a change request is opened. For a user it is merged at once. For an agent, or where a merge needs approvals, it stays open, and the command says so.";

export const ls = spec({
  path: ["triggers", "ls"],
  guesses: ["list"],
  summary: "List the triggers of the default branch, and when each fires",
  about: ["What is wrong in svc.toml there is told too: `svc validate` shows where."],
  args: [],
  flags: {},
  fields: TRIGGER_FIELDS,
  examples: [
    ["svc triggers ls", "All of them"],
    ["svc triggers ls --jq '.[] | select(.last_error) | .slug'", "Those that could not fire"],
  ],
});

export const info = spec({
  path: ["triggers", "info"],
  guesses: ["show"],
  summary: "Show a trigger, its last firings and what it missed",
  args: [SLUG],
  flags: {},
  fields: [
    ...TRIGGER_FIELDS,
    "prompt",
    "secret_env",
    "secrets",
    "firings",
  ] as const satisfies readonly (keyof TriggerDetail)[],
  examples: [
    ["svc triggers info nightly", "Show one"],
    ["svc triggers info deploy --jq .webhook_url", "Where its webhook is called"],
  ],
});

export const fire = spec({
  path: ["triggers", "fire"],
  guesses: ["run"],
  summary: "Start a trigger's session now",
  about: [
    "It may be disabled. The session is yours. Where the account has no place for another one it waits, at most an hour.",
  ],
  args: [SLUG],
  flags: {
    text: {
      kind: "string",
      value: "text",
      summary: "What `{{ text }}` in its prompt stands for, else added at the end; `-` reads standard input",
    },
  },
  fields: ["status", "session_id"] as const satisfies readonly (keyof Fired)[],
  examples: [
    ["svc triggers fire nightly", "Without waiting for the night"],
    ['svc triggers fire review --text "Only src/"', "With words of your own"],
  ],
});

export const enable = spec({
  path: ["triggers", "enable"],
  summary: "Let a trigger fire, by a change request to svc.toml",
  about: [SWITCHING],
  args: [SLUG],
  flags: {},
  fields: SWITCHED_FIELDS,
  examples: [
    ["svc triggers enable nightly", "It fires from the merge on"],
    ["svc triggers enable nightly --jq .status", "merged, open or unchanged, for a script"],
  ],
});

export const disable = spec({
  path: ["triggers", "disable"],
  summary: "Keep a trigger from firing, by a change request to svc.toml",
  about: [SWITCHING],
  args: [SLUG],
  flags: {},
  fields: SWITCHED_FIELDS,
  examples: [
    ["svc triggers disable nightly", "It fires no more from the merge on"],
    ["svc triggers disable nightly --jq .change_request.number", "The change request that says so"],
  ],
});

export const triggers: Group = {
  name: "triggers",
  summary: "Sessions that start by time or by webhook",
  commands: [
    bind(ls, () => import("../commands/triggers/ls.ts").then((module) => module.ls)),
    bind(info, () => import("../commands/triggers/info.ts").then((module) => module.info)),
    bind(fire, () => import("../commands/triggers/fire.ts").then((module) => module.fire)),
    bind(enable, () => import("../commands/triggers/switch.ts").then((module) => module.enable)),
    bind(disable, () => import("../commands/triggers/switch.ts").then((module) => module.disable)),
  ],
};
