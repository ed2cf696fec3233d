import { bind, type Group, spec } from "../spec.ts";
import { careCommands } from "./self-host-care.ts";

export const start = spec({
  path: ["self-host", "start"],
  guesses: ["up"],
  summary: "Start a server of your own on this machine, and sign in to it",
  about: [
    "The server runs in containers (Docker Compose: Postgres and svc-api), or with --native as a background service of your user, on its embedded database. The first start creates its settings and secrets in ~/.svc/self-host, or in the folder that SVC_SELF_HOST_DIR names. Later starts keep them, and the data. If the server runs already, the command says so.",
    "The server is registered as the host `selfhost`, which becomes the active one.",
  ],
  args: [],
  flags: {
    native: { kind: "boolean", summary: "Without Docker: svc-api on its embedded database" },
    listen: {
      kind: "string",
      value: "address:port",
      guesses: ["port", "address", "addr", "bind"],
      summary: "Address to listen on (127.0.0.1:13738); stored in the settings",
    },
    "public-url": {
      kind: "string",
      value: "url",
      guesses: ["url", "domain"],
      summary: "URL at which browsers reach the server; stored in the settings",
    },
    email: { kind: "string", value: "address", summary: "The first user; defaults to git's user.email" },
    "api-binary": {
      kind: "string",
      value: "path",
      summary: "The program svc-api, if it is not beside svc or on the PATH",
      completes: "file",
    },
    "install-runtime": { kind: "boolean", summary: "Install the agent runtime without asking" },
    "no-service": {
      kind: "boolean",
      summary: "With --native: a plain background process instead of a service of systemd or launchd",
    },
  },
  fields: [
    "url",
    "mode",
    "version",
    "email",
    "sign_in_url",
    "host",
    "already_running",
    "settings_changed",
    "runtime_installed",
  ],
  examples: [
    ["svc self-host start", "In containers"],
    ["svc self-host start --native", "Without Docker"],
    ["svc self-host start --listen 0.0.0.0:8008 --public-url https://svc.example.com", "Behind a proxy"],
  ],
});

export const stop = spec({
  path: ["self-host", "stop"],
  guesses: ["down"],
  summary: "Stop the server; its data stays",
  about: [
    "Containers of running sessions keep running, and the next start manages them again. Local sandboxes are stopped, and their work is saved.",
  ],
  args: [],
  flags: {},
  fields: ["mode", "stopped"],
  examples: [
    ["svc self-host stop", "Stop it"],
    ["svc self-host stop --json=stopped", "Whether it ran, as JSON"],
  ],
});

export const status = spec({
  path: ["self-host", "status"],
  summary: "Show whether the server runs and answers",
  about: ["Exits with 1 if the server does not answer."],
  args: [],
  flags: {},
  fields: [
    "url",
    "mode",
    "service",
    "version",
    "healthy",
    "services",
    "started_at",
    "settings_changed",
    "folder",
  ],
  examples: [
    ["svc self-host status", "Its services and address"],
    ["svc self-host status --jq .healthy", "Only whether it answers"],
  ],
});

export const logs = spec({
  path: ["self-host", "logs"],
  summary: "Show the server's log",
  args: [
    {
      name: "service",
      summary: "Only this service: api (svc-api), or in Docker db (Postgres) or caddy (TLS)",
      choices: ["api", "db", "caddy"],
    },
  ],
  flags: {
    follow: { kind: "boolean", short: "f", summary: "Print new lines until you press Ctrl-C" },
    tail: { kind: "integer", value: "lines", min: 1, max: 5000, summary: "Only the last lines (100)" },
  },
  examples: [
    ["svc self-host logs", "The last 100 lines"],
    ["svc self-host logs api -f", "Follow svc-api"],
  ],
});

export const envLs = spec({
  path: ["self-host", "env", "ls"],
  guesses: ["env list"],
  summary: "List the server's settings; secrets are masked",
  args: [],
  flags: {},
  fields: ["name", "value", "secret"],
  examples: [
    ["svc self-host env ls", "All settings"],
    ["svc self-host env ls --jq '.[].name'", "Only their names"],
  ],
});

export const envSet = spec({
  path: ["self-host", "env", "set"],
  summary: "Change settings of the server, for its next start",
  about: [
    "docs/configuration.md lists the settings. `NAME=-` reads the value from standard input, or prompts for it on a terminal, so that it is not in the shell's history. `NAME=` removes a setting. svc-api checks the values first: if one is invalid, none is stored.",
  ],
  args: [{ name: "NAME=VALUE", summary: "A setting and its value", required: true, many: true }],
  flags: {},
  fields: ["name", "value", "secret", "applies"],
  examples: [
    ["svc self-host env set SVC_SIGN_UP=open", "Change one"],
    ["svc self-host env set SVC_LLM_API_KEY=- < key.txt", "Read a secret from a file"],
  ],
});

export const configure = spec({
  path: ["self-host", "configure"],
  summary: "Answer questions about the server's settings, for its next start",
  about: [
    "On a terminal it asks, shows what is set and keeps it if you press Enter. Each answer is also a flag; with one or more flags it does not ask. An empty value removes a setting. Secrets are never shown; `-` reads one from standard input.",
    "Credentials for a git host belong to a project, not to the server: svc projects new --git-token.",
  ],
  args: [],
  flags: {
    listen: {
      kind: "string",
      value: "address:port",
      summary: "Address to listen on; 127.0.0.1 is only for this machine",
    },
    "public-url": { kind: "string", value: "url", empty: true, summary: "URL at which browsers reach it" },
    "preview-host": { kind: "string", value: "host", empty: true, summary: "Parent host of previews" },
    tls: {
      kind: "string",
      value: "caddy",
      empty: true,
      summary: "Run Caddy in front of a server in Docker, which gets the certificates",
    },
    "sign-up": {
      kind: "string",
      value: "who",
      choices: ["invited", "open"],
      summary: "Who can create a user",
    },
    "git-hosts": {
      kind: "string",
      value: "list",
      empty: true,
      summary: "Your own git hosts with an API: git.example.com=gitlab,…",
    },
    "github-client-id": {
      kind: "string",
      value: "id",
      empty: true,
      summary: "OAuth app for sign-in with GitHub: its id",
    },
    "github-client-secret": {
      kind: "string",
      value: "secret",
      empty: true,
      summary: "The OAuth app's secret; `-` reads it from standard input",
    },
    "github-url": { kind: "string", value: "url", empty: true, summary: "URL of a GitHub Enterprise Server" },
    "model-url": { kind: "string", value: "url", empty: true, summary: "Model gateway: URL of its API" },
    "model-key": {
      kind: "string",
      value: "key",
      empty: true,
      summary: "Model gateway: key; `-` reads it from standard input",
    },
    "model-name": { kind: "string", value: "model", empty: true, summary: "Model gateway: default model" },
  },
  fields: ["name", "value", "secret", "applies"],
  examples: [
    ["svc self-host configure", "Answer the questions"],
    ["svc self-host configure --public-url https://svc.example.com --sign-up open", "Without questions"],
    [
      "svc self-host configure --public-url https://svc.example.com --preview-host example-previews.net --tls caddy",
      "A public name with TLS",
    ],
  ],
});

/** The process behind a native server. */
export const supervise = spec({
  path: ["self-host", "supervise"],
  summary: "Run the native server in the foreground, for a service manager",
  args: [],
  flags: {},
  examples: [["svc self-host supervise", "Run the server"]],
  hidden: true,
});

export const selfHost: Group = {
  name: "self-host",
  summary: "A server of your own",
  commands: [
    bind(start, () => import("../commands/self-host/start.ts").then((module) => module.start)),
    bind(stop, () => import("../commands/self-host/stop.ts").then((module) => module.stop)),
    bind(status, () => import("../commands/self-host/status.ts").then((module) => module.status)),
    bind(logs, () => import("../commands/self-host/logs.ts").then((module) => module.logs)),
    bind(configure, () => import("../commands/self-host/configure.ts").then((module) => module.configure)),
    bind(envLs, () => import("../commands/self-host/env-ls.ts").then((module) => module.envLs)),
    bind(envSet, () => import("../commands/self-host/env-set.ts").then((module) => module.envSet)),
    ...careCommands,
    bind(supervise, () => import("../commands/self-host/supervise.ts").then((module) => module.supervise)),
  ],
};
