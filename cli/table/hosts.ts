import { bind, type Group, spec } from "../spec.ts";

const FIELDS = [
  "name",
  "url",
  "dashboard_url",
  "active",
  "builtin",
  "signed_in",
  "user_email",
  "account_id",
] as const;

export const ls = spec({
  path: ["hosts", "ls"],
  summary: "List the registered hosts and the active one",
  args: [],
  flags: {},
  fields: FIELDS,
  examples: [
    ["svc hosts ls", "All hosts"],
    ["svc hosts ls --jq '.[] | select(.signed_in) | .name'", "Names of the hosts you are signed in to"],
  ],
});

export const use = spec({
  path: ["hosts", "use"],
  guesses: ["switch"],
  summary: "Make a host the active one",
  args: [{ name: "name", summary: "The host's name", required: "ask", completes: "host" }],
  flags: {},
  fields: FIELDS,
  examples: [
    ["svc hosts use local-dev", "Send commands to a server on this machine"],
    ["svc hosts use", "Choose from a list"],
  ],
});

export const add = spec({
  path: ["hosts", "add"],
  summary: "Register a host",
  args: [{ name: "name", summary: "A short name for it", required: true }],
  flags: {
    url: { kind: "string", value: "url", required: true, summary: "Address of its API, with or without /v1" },
    "dashboard-url": { kind: "string", value: "url", summary: "Address of its dashboard, if it differs" },
    login: { kind: "boolean", summary: "Sign in to it through a browser" },
  },
  fields: FIELDS,
  examples: [
    ["svc hosts add team --url https://svc.example.com", "Register a host"],
    ["svc hosts add team --url https://svc.example.com --login", "Register it and sign in"],
  ],
});

export const rm = spec({
  path: ["hosts", "rm"],
  summary: "Remove a host and its token",
  about: [
    "A built-in host is reset to its built-in address. Removing the last stored host needs a confirmation.",
  ],
  args: [{ name: "name", summary: "The host's name", required: true, completes: "host" }],
  flags: { yes: { kind: "boolean", short: "y", summary: "Skip the confirmation prompt" } },
  fields: ["name", "removed", "active"],
  examples: [
    ["svc hosts rm team", "Remove a host"],
    ["svc hosts rm team --yes", "Remove it without a prompt"],
  ],
});

export const info = spec({
  path: ["hosts", "info"],
  summary: "Show a host and whether its server is reachable",
  args: [{ name: "name", summary: "The host's name; defaults to the active one", completes: "host" }],
  flags: {},
  fields: [...FIELDS, "reachable", "version"],
  examples: [
    ["svc hosts info", "The active host"],
    ["svc hosts info team --json=reachable,version", "Whether a host is reachable, as JSON"],
  ],
});

export const current = spec({
  path: ["hosts", "current"],
  summary: "Print the active host's name",
  args: [],
  flags: {},
  fields: ["name", "url", "source"],
  examples: [
    ["svc hosts current", "Only the name"],
    ["svc hosts current --json", "With its address and its source"],
  ],
});

export const hosts: Group = {
  name: "hosts",
  summary: "The servers that svc connects to",
  commands: [
    bind(ls, () => import("../commands/hosts.ts").then((module) => module.ls)),
    bind(use, () => import("../commands/hosts.ts").then((module) => module.use)),
    bind(add, () => import("../commands/hosts.ts").then((module) => module.add)),
    bind(rm, () => import("../commands/hosts.ts").then((module) => module.rm)),
    bind(info, () => import("../commands/hosts.ts").then((module) => module.info)),
    bind(current, () => import("../commands/hosts.ts").then((module) => module.current)),
  ],
};
