import { CHANNEL_KINDS } from "../../src/contract/channel.ts";
import { bind, type Group, spec } from "../spec.ts";
import { CHANNEL_FIELDS, CHANNEL_TEST_FIELDS } from "./channel-fields.ts";

const CHANNEL = {
  name: "channel",
  summary: "The connection, by its id or the beginning of it",
  required: true,
} as const;

export const ls = spec({
  path: ["channels", "ls"],
  summary: "List the chat workspaces that are connected to the project",
  about: ["Only owners and admins of the account manage channels. Tokens and secrets are never shown."],
  args: [],
  flags: {},
  fields: CHANNEL_FIELDS,
  examples: [
    ["svc channels ls", "List all"],
    [
      "svc channels ls --jq '.[] | select(.last_event_at == null) | .team_name'",
      "Those without messages yet",
    ],
  ],
});

export const connect = spec({
  path: ["channels", "connect"],
  guesses: ["add", "create", "new"],
  summary: "Connect a Slack workspace, or one channel of it, to the project",
  about: [
    "Prompts for the Bot User OAuth Token and the Signing Secret of your Slack app. Without a terminal, it reads them from standard input, each in a line, the token first. docs/channels.md has the steps in Slack.",
    "A workspace can be connected to several projects by the same app, if each but one has a channel of its own: --channel.",
  ],
  args: [{ name: "service", summary: "The chat service: slack", required: true, choices: CHANNEL_KINDS }],
  flags: {
    channel: {
      kind: "string",
      value: "id",
      summary: "Connect only this channel, by its id in Slack, such as C0123456789",
    },
  },
  fields: CHANNEL_FIELDS,
  examples: [
    ["svc channels connect slack", "Connect a workspace"],
    ["svc channels connect slack --channel C0123456789", "Connect one of its channels"],
    ["svc channels connect slack < slack-secrets.txt", "With the token and the secret from a file"],
  ],
});

export const disconnect = spec({
  path: ["channels", "disconnect"],
  guesses: ["rm", "remove", "delete"],
  summary: "Disconnect a workspace or channel, and delete its token and secret",
  about: ["Sessions that were started in its threads stay."],
  args: [CHANNEL],
  flags: {},
  fields: ["channel_id", "disconnected"],
  examples: [
    ["svc channels disconnect 1f3a", "Disconnect one"],
    ["svc channels disconnect 1f3a --json", "With JSON output"],
  ],
});

export const test = spec({
  path: ["channels", "test"],
  guesses: ["ping"],
  summary: "Test the token of a connection, its scopes, and whether the bot can post",
  about: ["Posts a message if one channel is connected. Fails if a scope is missing."],
  args: [CHANNEL],
  flags: {},
  fields: CHANNEL_TEST_FIELDS,
  examples: [
    ["svc channels test 1f3a", "Test one"],
    ["svc channels test 1f3a --jq .last_event_at", "When svc accepted the last message"],
  ],
});

export const channels: Group = {
  name: "channels",
  summary: "Work with agents in Slack",
  commands: [
    bind(ls, () => import("../commands/channels/ls.ts").then((module) => module.ls)),
    bind(connect, () => import("../commands/channels/connect.ts").then((module) => module.connect)),
    bind(disconnect, () => import("../commands/channels/disconnect.ts").then((module) => module.disconnect)),
    bind(test, () => import("../commands/channels/test.ts").then((module) => module.test)),
  ],
};
