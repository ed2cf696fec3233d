import { bind, type Command, spec } from "../spec.ts";

export const update = spec({
  path: ["update"],
  guesses: ["upgrade", "self-update"],
  summary: "Update svc to the newest version of the server that it was installed from",
  about: [
    "Downloads the release, verifies its signature and checksum, and starts it once before it replaces this program. The earlier version is kept as svc.prev; if the new one does not start, it is restored.",
    "Only an svc that install.sh installed updates itself: for npm, Homebrew or a system's package, the command to use is printed. docs/install.md describes what is verified.",
  ],
  args: [],
  flags: {
    check: { kind: "boolean", summary: "Only print whether there is a newer version" },
    rollback: { kind: "boolean", summary: "Return to the version before the last update" },
    version: { kind: "string", value: "version", summary: "Install this version, also if it is older" },
  },
  fields: ["action", "version", "previous_version", "path", "source"],
  examples: [
    ["svc update", "Install the newest version"],
    ["svc update --check --jq .action", "For a script: current, available or ahead"],
    ["svc update --rollback", "Undo the last update"],
  ],
});

export const uninstall = spec({
  path: ["uninstall"],
  summary: "Remove svc from this machine, with its stored tokens",
  about: [
    "Removes what install.sh recorded: the program, its links and its line for the PATH; then the folder ~/.svc if nothing else is in it, and the stored tokens. Tokens stay valid on their servers: `svc logout` revokes one.",
  ],
  args: [],
  flags: {
    "keep-home": { kind: "boolean", summary: "Keep the folder ~/.svc, without the program" },
    "keep-auth": { kind: "boolean", summary: "Keep the stored tokens" },
    yes: { kind: "boolean", short: "y", summary: "Skip the confirmation prompt" },
  },
  fields: ["removed", "kept", "failed", "signed_out"],
  examples: [
    ["svc uninstall", "Ask, then remove everything"],
    ["svc uninstall --keep-auth --yes", "Keep the tokens, without a prompt"],
  ],
});

/** Started in the background, at most once a day. It prints nothing and never fails. */
export const checkUpdate = spec({
  path: ["__check-update"],
  summary: "Find the newest version for the notice",
  args: [],
  flags: {},
  examples: [],
  hidden: true,
});

export const installing: Command[] = [
  bind(update, () => import("../commands/update/update.ts").then((module) => module.update)),
  bind(uninstall, () => import("../commands/uninstall/uninstall.ts").then((module) => module.uninstall)),
  bind(checkUpdate, () => import("../install/notice.ts").then((module) => module.checkUpdate)),
];
