import { WEBHOOK_FORMATS } from "../../src/contract/webhook.ts";
import { bind, type Group, spec } from "../spec.ts";
import { DELIVERY_FIELDS, NEW_WEBHOOK_FIELDS, WEBHOOK_FIELDS } from "./webhook-fields.ts";

const WEBHOOK = {
  name: "webhook",
  summary: "The webhook, by its id or the beginning of it",
  required: true,
} as const;

const EVENTS = {
  kind: "string",
  value: "list",
  summary: "Comma-separated events, such as cr.*,session.failed; all of them without it",
} as const;

export const ls = spec({
  path: ["webhooks", "ls"],
  summary: "List the project's webhooks",
  about: ["Only owners and admins of the account manage webhooks. Secrets are never shown again."],
  args: [],
  flags: {},
  fields: WEBHOOK_FIELDS,
  examples: [
    ["svc webhooks ls", "List all"],
    ["svc webhooks ls --jq '.[] | select(.enabled | not) | .url'", "URLs of the disabled ones"],
  ],
});

export const add = spec({
  path: ["webhooks", "add"],
  summary: "Send the project's events to a URL",
  about: [
    "svc signs each delivery as the Standard Webhooks specification says. It prints the secret once: give it to the receiver.",
    'With --format text the body is `{"text": "…"}`, as the incoming webhooks of Slack and Mattermost take it. The URL of a chat service is a credential; `-` reads it from standard input.',
  ],
  args: [{ name: "url", summary: "An https:// URL, or `-` for standard input", required: true }],
  flags: {
    events: EVENTS,
    format: { kind: "string", value: "format", choices: WEBHOOK_FORMATS, summary: "The body of deliveries" },
    secret: {
      kind: "string",
      value: "-",
      summary: "`-` reads a secret of your own (whsec_…) from standard input, or prompts for it",
    },
  },
  fields: NEW_WEBHOOK_FIELDS,
  examples: [
    ["svc webhooks add https://example.com/svc", "All events"],
    ["svc webhooks add https://example.com/svc --events 'cr.*,session.failed'", "Some of them"],
    ["svc webhooks add - --format text < slack-url.txt", "Post to a chat"],
  ],
});

export const edit = spec({
  path: ["webhooks", "edit"],
  guesses: ["set"],
  summary: "Change, enable or disable a webhook",
  about: [
    "Disabling a webhook ends the deliveries that wait; they can be redelivered. --rotate-secret replaces the secret at once.",
  ],
  args: [WEBHOOK],
  flags: {
    url: { kind: "string", value: "url", summary: "The new URL; `-` reads it from standard input" },
    events: EVENTS,
    format: { kind: "string", value: "format", choices: WEBHOOK_FORMATS, summary: "The body of deliveries" },
    enable: { kind: "boolean", summary: "Send events again" },
    disable: { kind: "boolean", summary: "Send no events" },
    "rotate-secret": { kind: "boolean", summary: "Make a new secret, and print it" },
  },
  fields: NEW_WEBHOOK_FIELDS,
  examples: [
    ["svc webhooks edit 1f3a --enable", "Enable it after the receiver is repaired"],
    ["svc webhooks edit 1f3a --rotate-secret --jq .secret", "Print a new secret"],
  ],
});

export const rm = spec({
  path: ["webhooks", "rm"],
  summary: "Remove a webhook with its deliveries",
  args: [WEBHOOK],
  flags: {},
  fields: ["webhook_id", "removed"],
  examples: [
    ["svc webhooks rm 1f3a", "Remove one"],
    ["svc webhooks rm 1f3a --json", "With JSON output"],
  ],
});

export const test = spec({
  path: ["webhooks", "test"],
  guesses: ["ping"],
  summary: "Send a test event to a webhook, and print the receiver's answer",
  about: ["Fails if the receiver does not answer 2xx within 15 seconds."],
  args: [WEBHOOK],
  flags: {},
  fields: DELIVERY_FIELDS,
  examples: [
    ["svc webhooks test 1f3a", "Send one"],
    ["svc webhooks test 1f3a --jq .status_code", "Print the status"],
  ],
});

export const deliveries = spec({
  path: ["webhooks", "deliveries"],
  guesses: ["log", "logs"],
  summary: "List the deliveries of a webhook, the newest first",
  args: [WEBHOOK],
  flags: {
    limit: { kind: "integer", value: "n", min: 1, max: 200, summary: "At most this many; 50 by default" },
  },
  fields: DELIVERY_FIELDS,
  examples: [
    ["svc webhooks deliveries 1f3a", "List the last ones"],
    ["svc webhooks deliveries 1f3a --jq '.[] | select(.status == \"failed\")'", "Those that failed"],
  ],
});

export const redeliver = spec({
  path: ["webhooks", "redeliver"],
  guesses: ["resend"],
  summary: "Deliver an event again, with the same webhook-id",
  args: [
    WEBHOOK,
    { name: "delivery", summary: "The delivery, by its id or the beginning of it", required: true },
  ],
  flags: {},
  fields: DELIVERY_FIELDS,
  examples: [
    ["svc webhooks redeliver 1f3a 09bc", "Send it again"],
    ["svc webhooks redeliver 1f3a 09bc --json", "With JSON output"],
  ],
});

export const webhooks: Group = {
  name: "webhooks",
  summary: "Events of the project, sent to your URLs",
  commands: [
    bind(ls, () => import("../commands/webhooks/ls.ts").then((module) => module.ls)),
    bind(add, () => import("../commands/webhooks/add.ts").then((module) => module.add)),
    bind(edit, () => import("../commands/webhooks/edit.ts").then((module) => module.edit)),
    bind(rm, () => import("../commands/webhooks/rm.ts").then((module) => module.rm)),
    bind(test, () => import("../commands/webhooks/test.ts").then((module) => module.test)),
    bind(deliveries, () => import("../commands/webhooks/deliveries.ts").then((module) => module.deliveries)),
    bind(redeliver, () => import("../commands/webhooks/redeliver.ts").then((module) => module.redeliver)),
  ],
};
