import { bind, type Group, spec } from "../spec.ts";
import {
  CONNECTOR_ASK_FIELDS,
  CONNECTOR_CALL_FIELDS,
  CONNECTOR_FIELDS,
  CONNECTOR_TEST_FIELDS,
} from "./connector-fields.ts";

const ASK = {
  name: "ask",
  summary: "The question, by its id or the beginning of it",
  required: true,
} as const;
const MESSAGE = {
  kind: "string",
  short: "m",
  value: "text",
  summary: "A message to the agent, which it reads with the answer",
} as const;

export const ls = spec({
  path: ["connectors", "ls"],
  summary: "List the project's connectors",
  about: ["They are in svc.toml on the default branch. A change needs a change request."],
  args: [],
  flags: {},
  fields: CONNECTOR_FIELDS,
  examples: [
    ["svc connectors ls", "List all"],
    ["svc connectors ls --jq '.[] | select(.secret_missing) | .auth'", "Secrets that are not set"],
  ],
});

export const test = spec({
  path: ["connectors", "test"],
  guesses: ["tools", "ping"],
  summary: "List the tools of a connector, and what its policies say of each",
  args: [{ name: "slug", summary: "The connector", required: true }],
  flags: {},
  fields: CONNECTOR_TEST_FIELDS,
  examples: [
    ["svc connectors test github", "List its tools"],
    [
      "svc connectors test github --jq '.tools[] | select(.action == \"allow\") | .name'",
      "Those without a question",
    ],
  ],
});

export const connect = spec({
  path: ["connectors", "connect"],
  guesses: ["login", "authorize", "auth"],
  summary: 'Authorize svc for a connector with auth = "oauth", in your browser',
  about: [
    "Prints the URL where you authorize svc, opens it, and waits. The service then redirects your browser to the dashboard, where you must be signed in. svc keeps the tokens; agents never see them. Only owners and admins of the account can connect a connector.",
  ],
  args: [{ name: "slug", summary: "The connector", required: true }],
  flags: { "no-wait": { kind: "boolean", summary: "Only print the URL" } },
  fields: ["slug", "authorization_url", "expires_at", "connected"],
  examples: [
    ["svc connectors connect linear", "Connect one"],
    ["svc connectors connect linear --no-wait --jq .authorization_url", "Only the URL"],
  ],
});

export const disconnect = spec({
  path: ["connectors", "disconnect"],
  guesses: ["logout"],
  summary: "Delete the tokens of a connector",
  about: ["This does not revoke the access at the service: to do so, remove svc there."],
  args: [{ name: "slug", summary: "The connector", required: true }],
  flags: {},
  fields: ["slug", "disconnected"],
  examples: [
    ["svc connectors disconnect linear", "Disconnect one"],
    ["svc connectors disconnect linear --json", "With JSON output"],
  ],
});

export const calls = spec({
  path: ["connectors", "calls"],
  guesses: ["log", "logs"],
  summary: "List connector calls, newest first",
  args: [],
  flags: {
    limit: { kind: "integer", value: "n", min: 1, max: 200, summary: "At most this many; 50 by default" },
  },
  fields: CONNECTOR_CALL_FIELDS,
  examples: [
    ["svc connectors calls", "List the last ones"],
    ["svc connectors calls --jq '.[] | select(.outcome == \"denied\")'", "Those that were denied"],
  ],
});

export const asks = spec({
  path: ["connectors", "asks"],
  guesses: ["pending", "approvals"],
  summary: "List the calls that wait for an approval",
  args: [],
  flags: { all: { kind: "boolean", summary: "Also those that were answered or have expired" } },
  fields: CONNECTOR_ASK_FIELDS,
  examples: [
    ["svc connectors asks", "List those that wait"],
    ["svc connectors asks --jq '.[0].arguments'", "The arguments of the newest call"],
  ],
});

export const approve = spec({
  path: ["connectors", "approve"],
  guesses: ["allow", "yes"],
  summary: "Approve a call of an agent, once",
  about: [
    "The approval is for one call with the arguments that `svc connectors asks` shows, within ten minutes.",
  ],
  args: [ASK],
  flags: {},
  fields: CONNECTOR_ASK_FIELDS,
  examples: [
    ["svc connectors approve 5d2e", "Approve it"],
    ["svc connectors approve 5d2e --json", "With JSON output"],
  ],
});

export const deny = spec({
  path: ["connectors", "deny"],
  guesses: ["reject", "no"],
  summary: "Deny a call of an agent",
  args: [ASK],
  flags: { message: MESSAGE },
  fields: CONNECTOR_ASK_FIELDS,
  examples: [
    ["svc connectors deny 5d2e", "Deny it"],
    ['svc connectors deny 5d2e -m "Use the staging project."', "With a message"],
  ],
});

export const connectors: Group = {
  name: "connectors",
  summary: "Services whose tools agents can call",
  commands: [
    bind(ls, () => import("../commands/connectors/ls.ts").then((module) => module.ls)),
    bind(test, () => import("../commands/connectors/test.ts").then((module) => module.test)),
    bind(connect, () => import("../commands/connectors/connect.ts").then((module) => module.connect)),
    bind(disconnect, () =>
      import("../commands/connectors/disconnect.ts").then((module) => module.disconnect),
    ),
    bind(calls, () => import("../commands/connectors/calls.ts").then((module) => module.calls)),
    bind(asks, () => import("../commands/connectors/asks.ts").then((module) => module.asks)),
    bind(approve, () => import("../commands/connectors/answer.ts").then((module) => module.approve)),
    bind(deny, () => import("../commands/connectors/answer.ts").then((module) => module.deny)),
  ],
};
