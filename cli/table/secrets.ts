import type { Secret } from "../../src/contract/secret.ts";
import { bind, type Group, spec } from "../spec.ts";

const SECRET_FIELDS = [
  "name",
  "for",
  "set_by",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof Secret)[];

export const ls = spec({
  path: ["secrets", "ls"],
  guesses: ["list"],
  summary: "List the names of the project's secrets",
  about: [
    "Values are never shown: they go into sandboxes, as environment variables, and nowhere else. What `[env]` of svc.toml on the default branch asks for is marked.",
  ],
  args: [],
  flags: {},
  fields: ["items", "required", "optional", "missing"],
  examples: [
    ["svc secrets ls", "Names, and what is missing"],
    ["svc secrets ls --jq '.missing[]'", "Only what the manifest asks for and is not set"],
  ],
});

export const set = spec({
  path: ["secrets", "set"],
  guesses: ["add"],
  summary: "Set secrets, new or again",
  about: [
    "`NAME=-` reads the value from standard input, or asks for it on a terminal, so that it is in no history. Names are of A-Z, 0-9 and _; those that begin with SVC_ and those of the system itself are refused. Running sandboxes get a changed secret when they start again.",
    "Without --for a new secret is for sessions and the builds of apps, and one that is set again keeps what it was for.",
  ],
  args: [{ name: "NAME=VALUE", summary: "A name and its value", required: true, many: true }],
  flags: {
    for: {
      kind: "string",
      value: "list",
      summary: "Where it is injected, with commas: sessions, builds, apps, apps:<slug>, triggers:<slug>",
    },
  },
  fields: SECRET_FIELDS,
  examples: [
    ["svc secrets set API_KEY=-", "Asks for the value"],
    ["svc secrets set API_KEY=- < key.txt", "From a file"],
    ["svc secrets set REGION=eu STAGE=test", "Two at once"],
    ["svc secrets set DATABASE_URL=- --for apps:shop", "Only for the app shop, and no session"],
  ],
});

export const unset = spec({
  path: ["secrets", "unset"],
  guesses: ["rm", "delete", "remove"],
  summary: "Remove secrets",
  args: [{ name: "NAME", summary: "The secret", required: true, many: true }],
  flags: {},
  fields: ["name", "removed"],
  examples: [
    ["svc secrets unset API_KEY", "Remove one"],
    ["svc secrets unset A B --json", "Remove two, for a script"],
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
    "Names that svc.toml asks for are in it too. An existing file is left alone unless --force is given.",
  ],
  args: [],
  flags: {
    out: { kind: "string", value: "path", fallback: ".env", summary: "Where to write", completes: "file" },
    force: { kind: "boolean", summary: "Replace an existing file" },
  },
  fields: ["path", "names"],
  examples: [
    ["svc env pull", "Writes .env"],
    ["svc env pull --out .env.example --force", "Replaces another file"],
  ],
});

export const push = spec({
  path: ["env", "push"],
  summary: "Set every NAME=VALUE of a dotenv file as a secret",
  about: [
    "Comments, quoted values (also over several lines) and `export NAME=…` are understood. A line that cannot be read stops the command before anything is sent.",
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
    ["svc env push --from .env", "Set all of it"],
    ["sops -d .env.enc | svc env push --from -", "From a command"],
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
