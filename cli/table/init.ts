import { bind, type Command, spec } from "../spec.ts";

const FIELDS = ["root", "files", "agents", "dry_run"] as const;

const COMMON = {
  yes: { kind: "boolean", short: "y", summary: "Do not ask: files that are there stay as they are" },
  "dry-run": { kind: "boolean", summary: "Say what would be done, and do nothing" },
} as const;

export const init = spec({
  path: ["init"],
  summary: "Set up a repository for svc: svc.toml, a Dockerfile, an agent, a skill and a tool",
  about: [
    "Writes svc.toml, .svc/Dockerfile and the folder .svc/agentrt with an agent, a tool and the skill that teaches agents how work leaves a session. The coding agents that it finds on this machine (Claude Code, Codex, Cursor, opencode) get the same skill, in the folder of the repository that they read. It says what it wrote, and asks nothing of any server.",
    "A file that is there stays, unless you agree to have it replaced, or pass --force. In a folder below the top of a repository it sets up the top. docs/init.md says what each file is for.",
  ],
  args: [],
  flags: {
    ...COMMON,
    force: { kind: "boolean", summary: "Replace files that are there and differ" },
  },
  fields: FIELDS,
  examples: [
    ["svc init", "Set up this repository"],
    ["svc init --dry-run", "See what it would write"],
    ["svc init --yes --json", "In a script"],
  ],
});

export const newProject = spec({
  path: ["<project-name>"],
  anyName: true,
  summary: "Make a new project in a folder of this name: a repository that is set up, with a first commit",
  about: [
    "A word that is no command of svc is the name of a new project: small letters, digits and single hyphens. Its folder is made here, set up as `svc init` does, and made a git repository whose branch main has one commit. On a terminal svc asks first; elsewhere it needs --yes. A folder that has something in it is left alone.",
  ],
  args: [{ name: "project-name", summary: "The name of the project and its folder", required: true }],
  flags: { ...COMMON, yes: { ...COMMON.yes, summary: "Do not ask before the folder is made" } },
  fields: [...FIELDS, "branch", "commit_sha"],
  examples: [
    ["svc my-shop", "Make ./my-shop"],
    ["svc my-shop --yes --json", "In a script"],
  ],
});

export const initializing: Command[] = [
  bind(init, () => import("../commands/init/init.ts").then((module) => module.init)),
  bind(newProject, () => import("../commands/init/new-project.ts").then((module) => module.newProject)),
];
