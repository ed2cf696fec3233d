import { bind, type Command, spec } from "../spec.ts";

const FIELDS = ["root", "files", "agents", "found", "setup", "dry_run"] as const;

const COMMON = {
  yes: { kind: "boolean", short: "y", summary: "Skip the prompts: existing files are not changed" },
  "dry-run": { kind: "boolean", summary: "Print what would be done without doing it" },
} as const;

export const init = spec({
  path: ["init"],
  summary: "Set up a repository for svc: svc.toml, a Dockerfile, an agent, a skill and a tool",
  about: [
    "Writes svc.toml, .svc/Dockerfile and the folder .svc/agentrt with an agent, a tool and a skill that explains to agents how to submit work from a session. The coding agents on this machine (Claude Code, Codex, Cursor, opencode) get the same skill, in the folder of the repository that they read. Prints what it wrote, and works offline.",
    "It recognizes Node, Python, Go, Rust, Ruby, Java and PHP by their files, also several at once, and writes an image with them and a setup command that installs the dependencies. docs/init.md says by which files.",
    "An existing file is kept, unless you confirm its replacement or pass --force. Below the top of a repository, it sets up the top folder. docs/init.md describes each file.",
  ],
  args: [],
  flags: {
    ...COMMON,
    force: { kind: "boolean", summary: "Replace existing files that differ" },
    mcp: {
      kind: "boolean",
      summary: "Let Claude Code and Cursor on this machine use svc's tools (.mcp.json, .cursor/mcp.json)",
    },
  },
  fields: FIELDS,
  examples: [
    ["svc init", "Set up this repository"],
    ["svc init --dry-run", "See what it would write"],
    ["svc init --mcp", "With svc's tools for the coding agents on this machine"],
    ["svc init --yes --json", "In a script"],
  ],
});

export const newProject = spec({
  path: ["<project-name>"],
  anyName: true,
  summary: "Create a project in a new folder of this name: a repository that is set up, with a first commit",
  about: [
    "A word that is not a command of svc is the name of a new project: lower-case letters, digits and single hyphens. svc creates the folder here, sets it up as `svc init` does, and makes it a git repository with one commit on the branch main. On a terminal svc asks first; elsewhere pass --yes. A folder that is not empty is not changed.",
  ],
  args: [{ name: "project-name", summary: "The name of the project and its folder", required: true }],
  flags: { ...COMMON, yes: { ...COMMON.yes, summary: "Create the folder without a prompt" } },
  fields: [...FIELDS, "branch", "commit_sha"],
  examples: [
    ["svc my-shop", "Create ./my-shop"],
    ["svc my-shop --yes --json", "In a script"],
  ],
});

export const initializing: Command[] = [
  bind(init, () => import("../commands/init/init.ts").then((module) => module.init)),
  bind(newProject, () => import("../commands/init/new-project.ts").then((module) => module.newProject)),
];
