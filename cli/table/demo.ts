import { bind, type Command, spec } from "../spec.ts";

export const demo = spec({
  path: ["demo"],
  summary: "Try svc with a sample project: review the work of an agent, merge it, see the app",
  about: [
    "Creates a project whose repository svc hosts, with a small web app, and starts a session. The agent runtime is the real one, but no model is used and no key is needed: a script in the repository answers in place of a model. The agent edits, commits and opens a change request; you review it, comment, merge it, and see the app, here or in the dashboard. Each step shows the command that does the same.",
    "Run it again to continue after an interruption. `svc demo --clean` deletes the project with its sessions, its app and its repository, and nothing else.",
    "The server needs the agent runtime (`svc-api runtime install`). docs/demo.md describes the demo.",
  ],
  args: [],
  flags: {
    yes: { kind: "boolean", short: "y", summary: "Comment, merge and clean without a prompt, for scripts" },
    clean: { kind: "boolean", summary: "Delete the demo" },
  },
  fields: [
    "project_id",
    "project_slug",
    "session_id",
    "cr_number",
    "merge_commit_sha",
    "url",
    "heading",
    "deleted",
  ],
  examples: [
    ["svc demo", "Try svc"],
    ["svc demo --clean", "Delete the sample project"],
    ["svc demo --yes --json", "The whole demo as a test of a server"],
  ],
});

export const trying: Command[] = [
  bind(demo, () => import("../commands/demo/demo.ts").then((module) => module.demo)),
];
