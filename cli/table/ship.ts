import { bind, type Command, spec } from "../spec.ts";

export const ship = spec({
  path: ["ship"],
  aliases: ["deploy"],
  summary: "Push this branch to the project's repository, which the first run makes",
  about: [
    "The first run makes a project whose repository svc hosts, links this folder to it, adds the remote `origin` (or `svc`, when there is another origin) and sets svc up as git's credential helper for it. Later runs push. A linked project on another git host is pushed to its own `origin`, with your own credentials.",
    "svc.toml is checked first, and its errors stop the push. Nothing is committed without --commit.",
  ],
  args: [],
  flags: {
    commit: { kind: "boolean", summary: "Commit everything that is not committed first" },
    message: { kind: "string", short: "m", value: "text", summary: "The message of that commit" },
    name: {
      kind: "string",
      value: "name",
      summary: "The name of a new project; svc.toml's if left out, else the folder's",
    },
    account: {
      kind: "string",
      value: "id",
      summary: "The account that owns a new project; your first if left out",
    },
    yes: { kind: "boolean", short: "y", summary: "Do not ask before a repository or a project is made" },
    "dry-run": { kind: "boolean", summary: "Say what would be done, and do nothing" },
  },
  fields: [
    "project_id",
    "project_slug",
    "created",
    "remote",
    "remote_url",
    "branch",
    "commit_sha",
    "pushed",
    "dry_run",
  ],
  examples: [
    ["svc ship", "Push the commits of this branch"],
    ['svc ship --commit -m "A better login page"', "Commit everything first"],
    ["svc ship --yes --name shop --json", "Make and fill a project in a script"],
  ],
});

export const validate = spec({
  path: ["validate"],
  guesses: ["lint", "check"],
  summary: "Check svc.toml: every problem with its line and column",
  about: [
    "Also what only the files around it can tell: that the Dockerfile, the folders and the agents that it names are there. An error makes the exit status 1, a warning does not. No server is asked.",
    "docs/manifest.md says what svc.toml may hold.",
  ],
  args: [
    {
      name: "file",
      summary: "svc.toml at the top of this repository if left out; `-` is standard input",
      completes: "file",
    },
  ],
  flags: {},
  fields: ["file", "ok", "errors"],
  examples: [
    ["svc validate", "Check the manifest of this repository"],
    ["git show main:svc.toml | svc validate -", "Another version of it"],
    ["svc validate --jq '.errors[] | \"\\(.line): \\(.message)\"'", "For a script"],
  ],
});

export const shipping: Command[] = [
  bind(ship, () => import("../commands/ship/ship.ts").then((module) => module.ship)),
  bind(validate, () => import("../commands/validate/validate.ts").then((module) => module.validate)),
];
