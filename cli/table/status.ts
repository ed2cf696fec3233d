import { bind, type Command, spec } from "../spec.ts";

export const statusSpec = spec({
  path: ["status"],
  guesses: ["st"],
  summary: "Show where you are, what your agents do, and what waits for you",
  about: [
    "Shows the host, the account and the project of this directory; your sessions that run, those that wait for an answer first; your open change requests, and those of others that you have not approved yet.",
  ],
  args: [],
  flags: {},
  fields: ["host", "host_url", "email", "account", "project", "sessions", "change_requests", "to_review"],
  examples: [
    ["svc status", "In a directory that is linked to a project"],
    [
      "svc status --jq '.sessions[] | select(.activity == \"waiting\") | .session_id'",
      "Sessions that wait for you",
    ],
  ],
});

export const status: Command = bind(statusSpec, () =>
  import("../commands/status.ts").then((module) => module.status),
);
