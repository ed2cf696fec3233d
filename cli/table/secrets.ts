import { bind, type Group, spec } from "../spec.ts";
import { SECRET_FIELDS } from "./fields.ts";

const MINE = { kind: "boolean", summary: "Your own secrets, for the sessions that you start" } as const;

export const ls = spec({
  path: ["secrets", "ls"],
  summary: "List the names of the project's secrets, or of your own",
  about: [
    "Values are never shown: they are only injected into sandboxes as environment variables. Secrets that `[env]` of svc.toml on the default branch lists are marked.",
    "--mine lists the secrets that you hold yourself; `for` has the projects in which your sessions get each.",
  ],
  args: [],
  flags: { mine: MINE },
  fields: ["items", "required", "optional", "missing"],
  examples: [
    ["svc secrets ls", "Names, and missing secrets"],
    ["svc secrets ls --jq '.missing[]'", "Only required secrets that are not set"],
    ["svc secrets ls --mine", "Your own, and the projects that get them"],
  ],
});

export const set = spec({
  path: ["secrets", "set"],
  guesses: ["add", "create", "new", "update", "edit"],
  summary: "Create or update secrets",
  about: [
    "`NAME=-` reads the value from standard input, or prompts for it on a terminal, so that it is not in the shell's history. Names consist of A-Z, 0-9 and _; names that begin with SVC_ and those of the system are reserved. A running sandbox gets a changed secret when it restarts.",
    "Without --for, a new secret is injected into sessions and app builds, and an existing one keeps its audience.",
    "With --mine you hold the secret yourself, for example the login of your subscription. It is only for the sessions that you start in the project: the linked one, or that of --project. Members who can prompt such a session can use the secret while it runs. It goes before a secret of the project with the same name. NAME without a value gives one that you hold to another project.",
  ],
  args: [{ name: "NAME=VALUE", summary: "A name and its value", required: true, many: true }],
  flags: {
    for: {
      kind: "string",
      value: "list",
      summary:
        "Where it is injected, comma-separated: sessions, builds, apps, apps:<slug>, previews, triggers:<slug>, checks, connectors",
    },
    mine: MINE,
  },
  fields: SECRET_FIELDS,
  examples: [
    ["svc secrets set API_KEY=-", "Prompt for the value"],
    ["svc secrets set API_KEY=- < key.txt", "Read the value from a file"],
    ["svc secrets set REGION=eu STAGE=test", "Set two"],
    ["svc secrets set DATABASE_URL=- --for apps:shop", "Only for the app shop, not for sessions"],
    ["svc secrets set --mine CLAUDE_CODE_OAUTH_TOKEN=-", "Only for your sessions in this project"],
    ["svc secrets set --mine CLAUDE_CODE_OAUTH_TOKEN --project shop", "Also for those in shop"],
  ],
});

export const unset = spec({
  path: ["secrets", "unset"],
  guesses: ["rm", "delete", "remove", "del"],
  summary: "Remove secrets",
  about: [
    "Running sandboxes lose them, too. With --mine, --project only takes your secret from the sessions in that project.",
  ],
  args: [{ name: "NAME", summary: "The secret", required: true, many: true }],
  flags: { mine: MINE },
  fields: ["name", "removed"],
  examples: [
    ["svc secrets unset API_KEY", "Remove one"],
    ["svc secrets unset A B --json", "Remove two, with JSON output"],
    ["svc secrets unset --mine CODEX_AUTH_JSON", "Remove one of your own from all projects"],
    ["svc secrets unset --mine CODEX_AUTH_JSON --project shop", "Only from your sessions in shop"],
  ],
});

export const secrets: Group = {
  name: "secrets",
  summary: "Environment variables of sandboxes, encrypted",
  commands: [
    bind(ls, () => import("../commands/secrets/ls.ts").then((module) => module.ls)),
    bind(set, () => import("../commands/secrets/set.ts").then((module) => module.set)),
    bind(unset, () => import("../commands/secrets/unset.ts").then((module) => module.unset)),
  ],
};

export const pull = spec({
  path: ["env", "pull"],
  summary: "Write a dotenv file with the names of the secrets, without values",
  about: [
    "It also has the names that svc.toml lists. An existing file is not changed unless --force is given.",
  ],
  args: [],
  flags: {
    out: { kind: "string", value: "path", fallback: ".env", summary: "The file to write", completes: "file" },
    force: { kind: "boolean", summary: "Replace an existing file" },
  },
  fields: ["path", "names"],
  examples: [
    ["svc env pull", "Write .env"],
    ["svc env pull --out .env.example --force", "Replace another file"],
  ],
});

export const push = spec({
  path: ["env", "push"],
  summary: "Set every NAME=VALUE of a dotenv file as a secret",
  about: [
    "Comments, quoted values (also multi-line) and `export NAME=…` are supported. If a line cannot be parsed, nothing is sent.",
  ],
  args: [],
  flags: {
    from: {
      kind: "string",
      value: "path",
      required: true,
      summary: "The file; `-` is standard input",
      completes: "file",
    },
  },
  fields: SECRET_FIELDS,
  examples: [
    ["svc env push --from .env", "Set every value"],
    ["sops -d .env.enc | svc env push --from -", "Read from a command"],
  ],
});

export const env: Group = {
  name: "env",
  summary: "Secrets as a dotenv file",
  commands: [
    bind(pull, () => import("../commands/env/pull.ts").then((module) => module.pull)),
    bind(push, () => import("../commands/env/push.ts").then((module) => module.push)),
  ],
};
