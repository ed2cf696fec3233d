import { bind, type Command, spec } from "../spec.ts";

export const ship = spec({
  path: ["ship"],
  aliases: ["deploy"],
  summary: "Push this branch to the project's repository, which the first run creates",
  about: [
    "The first run creates a project whose repository svc hosts, links this folder to it, adds the remote `origin` (or `svc`, if there is another origin) and configures svc as git's credential helper for it. Later runs push. A linked project on another git host is pushed to its own `origin`, with your own credentials.",
    "svc.toml is checked first; if it has errors, nothing is pushed. Nothing is committed without --commit.",
  ],
  args: [],
  flags: {
    commit: { kind: "boolean", summary: "Commit all changes first" },
    message: { kind: "string", short: "m", value: "text", summary: "The message of that commit" },
    name: {
      kind: "string",
      value: "name",
      summary: "The name of a new project; defaults to the name in svc.toml, else to the folder's",
    },
    account: {
      kind: "string",
      value: "id",
      summary: "The account that owns a new project, by its id or slug; by default the active one",
    },
    yes: { kind: "boolean", short: "y", summary: "Create a repository or a project without a prompt" },
    "dry-run": { kind: "boolean", summary: "Print what would be done without doing it" },
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
    ['svc ship --commit -m "A better login page"', "Commit all changes first"],
    ["svc ship --yes --name shop --json", "Create a project and push to it in a script"],
  ],
});

export const validate = spec({
  path: ["validate"],
  guesses: ["lint", "check"],
  summary: "Check svc.toml, and print each problem with its line and column",
  about: [
    "Also checks that the Dockerfile, the folders and the agents that it names exist. With an error the exit status is 1; a warning does not change it. Works offline.",
    "docs/manifest.md describes svc.toml.",
  ],
  args: [
    {
      name: "file",
      summary: "The file; defaults to svc.toml at the top of this repository; `-` is standard input",
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
