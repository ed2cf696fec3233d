import type { App } from "../../src/contract/app.ts";
import { bind, type Group, spec } from "../spec.ts";

export const APP_FIELDS = [
  "app_id",
  "slug",
  "name",
  "type",
  "root_path",
  "enabled",
  "state",
  "error",
  "url",
  "live",
  "next",
  "updated_at",
] as const satisfies readonly (keyof App)[];

const SLUG = { name: "slug", summary: "Its slug, as svc.toml has it", required: true } as const;

export const ls = spec({
  path: ["apps", "ls"],
  guesses: ["list"],
  summary: "List the project's apps: what `[[apps]]` of svc.toml has deployed",
  args: [],
  flags: {},
  fields: APP_FIELDS,
  examples: [
    ["svc apps ls", "All of them, with state and address"],
    ["svc apps ls --jq '.[].url'", "Only the addresses"],
  ],
});

export const info = spec({
  path: ["apps", "info"],
  guesses: ["show", "view", "status"],
  summary: "Show an app with its last deployments",
  args: [SLUG],
  flags: {},
  fields: ["app", "deployments"],
  examples: [
    ["svc apps info web", "One app"],
    ["svc apps info web --jq .app.state", "Only its state"],
  ],
});

export const deploy = spec({
  path: ["apps", "deploy"],
  guesses: ["redeploy", "start", "restart"],
  summary: "Deploy an app anew, as the default branch has it",
  about: [
    "A merge that changes an app deploys it by itself. What is live is served until the new deployment answers, and goes on if that fails.",
    "With --wait it is waited for, at most --timeout seconds (1800 if left out): exit status 0 says that the new deployment is live; when it fails, the reason and the end of its log are shown. Ctrl-C ends the waiting and nothing else.",
  ],
  args: [SLUG],
  flags: { wait: { kind: "boolean", summary: "Wait until it is live, or has failed" } },
  fields: APP_FIELDS,
  examples: [
    ["svc apps deploy web", "Returns as soon as the server has taken it"],
    ["svc apps deploy web --wait", "Exit status 1 when it fails"],
  ],
});

export const stop = spec({
  path: ["apps", "stop"],
  summary: "Stop an app until somebody deploys it",
  args: [SLUG],
  flags: {},
  fields: APP_FIELDS,
  examples: [
    ["svc apps stop web", "Nothing of it runs any more"],
    ["svc apps stop web --jq .state", "For a script"],
  ],
});

export const logs = spec({
  path: ["apps", "logs"],
  guesses: ["log"],
  summary: "Show what a deployment's build and program have said",
  about: [
    "Of the newest deployment, unless --deployment names another by its number.",
    "--follow goes on with the next deployment when there is one; with --deployment it ends with that one.",
  ],
  args: [SLUG],
  flags: {
    follow: { kind: "boolean", short: "f", summary: "Show what is added, as it comes" },
    deployment: { kind: "integer", value: "n", min: 1, max: 999_999, summary: "The number of a deployment" },
    tail: { kind: "integer", value: "n", short: "n", min: 1, max: 10_000, summary: "Only the last lines" },
  },
  fields: ["deployment", "lines", "truncated"],
  examples: [
    ["svc apps logs web", "The newest deployment's"],
    ["svc apps logs web -f --tail 20", "The last 20 lines, and what comes"],
    ["svc apps logs web --deployment 3 --tail 50", "The end of another's"],
  ],
});

export const open = spec({
  path: ["apps", "open"],
  guesses: ["url", "preview"],
  summary: "Open an app in the browser",
  about: [
    "The address signs in whoever opens it first: treat it like a password. Away from a terminal, and in a sandbox, it is printed instead.",
  ],
  args: [SLUG],
  flags: { "print-url": { kind: "boolean", summary: "Print the address, open nothing" } },
  fields: ["url"],
  examples: [
    ["svc apps open web", "In the browser"],
    ["svc apps open web --print-url", "Only its address"],
  ],
});

export const apps: Group = {
  name: "apps",
  summary: "What is deployed from the default branch",
  commands: [
    bind(ls, () => import("../commands/apps/ls.ts").then((module) => module.ls)),
    bind(info, () => import("../commands/apps/info.ts").then((module) => module.info)),
    bind(deploy, () => import("../commands/apps/deploy.ts").then((module) => module.deploy)),
    bind(stop, () => import("../commands/apps/stop.ts").then((module) => module.stop)),
    bind(logs, () => import("../commands/apps/logs.ts").then((module) => module.logs)),
    bind(open, () => import("../commands/apps/open.ts").then((module) => module.open)),
  ],
};
