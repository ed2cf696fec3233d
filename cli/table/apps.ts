import { bind, type Group, spec } from "../spec.ts";
import { DOMAIN_COMMANDS } from "./app-domains.ts";
import { TAIL, WAIT } from "./app-flags.ts";
import { VOLUME_COMMANDS } from "./app-volume.ts";
import { APP_FIELDS, DEPLOYMENT_FIELDS } from "./fields.ts";

const SLUG = { name: "slug", summary: "The app's slug in svc.toml", required: true } as const;

export const ls = spec({
  path: ["apps", "ls"],
  summary: "List the project's apps, which `[[apps]]` of svc.toml defines",
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
  guesses: ["status"],
  summary: "Show an app with its last deployments",
  args: [SLUG],
  flags: {},
  fields: ["app", "deployments", "problem"],
  examples: [
    ["svc apps info web", "One app"],
    ["svc apps info web --jq .app.state", "Only its state"],
  ],
});

export const deploy = spec({
  path: ["apps", "deploy"],
  guesses: ["redeploy", "start", "restart"],
  summary: "Redeploy an app from the default branch",
  about: [
    "A merge that changes an app deploys it automatically. The live deployment serves requests until the new one is ready, and stays live if that fails.",
    "--wait waits for up to --timeout seconds (1800 by default); exit status 0 means that the new deployment is live. If it fails, the reason and the end of its log are printed. Ctrl-C ends only the wait.",
  ],
  args: [SLUG],
  flags: { wait: WAIT },
  fields: APP_FIELDS,
  examples: [
    ["svc apps deploy web", "Return once the server has accepted the request"],
    ["svc apps deploy web --wait", "Exit with status 1 if it fails"],
  ],
});

export const stop = spec({
  path: ["apps", "stop"],
  summary: "Stop an app until it is deployed again",
  args: [SLUG],
  flags: {},
  fields: APP_FIELDS,
  examples: [
    ["svc apps stop web", "Stop it"],
    ["svc apps stop web --jq .state", "For a script"],
  ],
});

export const rollback = spec({
  path: ["apps", "rollback"],
  guesses: ["revert", "undo"],
  summary: "Deploy an earlier deployment's commit again",
  about: [
    "Without a number it goes back to what was live before. The commit is built again, with the entry that it had and today's secrets.",
    "From then on merges do not deploy the app, which would undo the rollback: `svc apps deploy` does, and turns that on again.",
  ],
  args: [SLUG, { name: "deployment", summary: "The number of a deployment that was live" }],
  flags: { wait: WAIT },
  fields: APP_FIELDS,
  examples: [
    ["svc apps rollback web", "To what was live before"],
    ["svc apps rollback web 3 --wait", "To deployment 3, and wait until it is live"],
  ],
});

export const history = spec({
  path: ["apps", "history"],
  guesses: ["deployments", "releases", "versions"],
  summary: "List an app's deployments: commit, reason, who, state",
  args: [SLUG],
  flags: {},
  fields: DEPLOYMENT_FIELDS,
  examples: [
    ["svc apps history web", "The newest first"],
    ["svc apps history web --jq '.[] | select(.state == \"failed\") | .error'", "Why deployments failed"],
  ],
});

export const diff = spec({
  path: ["apps", "diff"],
  summary: "Show what a deployment changed",
  about: ["Compares its commit with the one that was live before it."],
  args: [SLUG, { name: "deployment", summary: "The number of a deployment", required: true }],
  flags: { "no-pager": { kind: "boolean", summary: "Print the diff without a pager" } },
  fields: [
    "base_sha",
    "head_sha",
    "files",
    "files_changed",
    "additions",
    "deletions",
    "patch",
    "patch_base64",
    "truncated",
  ],
  examples: [
    ["svc apps diff web 3", "The patch"],
    ["svc apps diff web 3 --jq '.files[].path'", "The paths of the changed files"],
  ],
});

export const logs = spec({
  path: ["apps", "logs"],
  summary: "Show the log of a deployment: its build and its program",
  about: [
    "Shows the newest deployment, unless --deployment gives the number of another.",
    "--follow continues with the next deployment; with --deployment it ends with that one.",
  ],
  args: [SLUG],
  flags: {
    follow: { kind: "boolean", short: "f", summary: "Print new lines as they arrive" },
    deployment: { kind: "integer", value: "n", min: 1, max: 999_999, summary: "The number of a deployment" },
    tail: TAIL,
  },
  fields: ["deployment", "lines", "truncated"],
  examples: [
    ["svc apps logs web", "The newest deployment"],
    ["svc apps logs web -f --tail 20", "The last 20 lines, then new ones"],
    ["svc apps logs web --deployment 3 --tail 50", "The end of another deployment's log"],
  ],
});

export const open = spec({
  path: ["apps", "open"],
  guesses: ["url", "preview"],
  summary: "Open an app in the browser",
  about: [
    "The URL signs in the first browser that opens it: treat it like a password. Without a terminal, and in a sandbox, it is only printed.",
  ],
  args: [SLUG],
  flags: { "print-url": { kind: "boolean", summary: "Print the address without opening it" } },
  fields: ["url"],
  examples: [
    ["svc apps open web", "In the browser"],
    ["svc apps open web --print-url", "Only its address"],
  ],
});

export const apps: Group = {
  name: "apps",
  summary: "Apps: deployed from the default branch",
  commands: [
    bind(ls, () => import("../commands/apps/ls.ts").then((module) => module.ls)),
    bind(info, () => import("../commands/apps/info.ts").then((module) => module.info)),
    bind(deploy, () => import("../commands/apps/deploy.ts").then((module) => module.deploy)),
    bind(stop, () => import("../commands/apps/stop.ts").then((module) => module.stop)),
    bind(rollback, () => import("../commands/apps/rollback.ts").then((module) => module.rollback)),
    bind(history, () => import("../commands/apps/history.ts").then((module) => module.history)),
    bind(diff, () => import("../commands/apps/diff.ts").then((module) => module.diff)),
    bind(logs, () => import("../commands/apps/logs.ts").then((module) => module.logs)),
    ...DOMAIN_COMMANDS,
    ...VOLUME_COMMANDS,
    bind(open, () => import("../commands/apps/open.ts").then((module) => module.open)),
  ],
};
