import { bind, type Command, spec } from "../spec.ts";

export const api = spec({
  path: ["api"],
  summary: "Send a request to the API and print the response",
  about: [
    "The path is relative to the host's /v1. `{project_id}` is replaced with the current project. Fields become the query of a GET request, and otherwise a JSON body. With a body, the method defaults to POST.",
    "The token is sent only to the host it belongs to.",
  ],
  args: [{ name: "path", summary: "For example projects/{project_id}/change-requests", required: true }],
  flags: {
    method: { kind: "string", value: "method", short: "X", summary: "GET, POST, PATCH, PUT or DELETE" },
    field: {
      kind: "string",
      value: "key=value",
      short: "F",
      many: true,
      completes: "file",
      summary:
        "A field: true, false, null and whole numbers become JSON, @path reads a file, @- standard input",
    },
    "raw-field": {
      kind: "string",
      value: "key=value",
      short: "f",
      many: true,
      summary: "A field whose value is raw text",
    },
    input: {
      kind: "string",
      value: "path",
      completes: "file",
      summary: "Send this file as the body; `-` is standard input",
    },
    paginate: { kind: "boolean", summary: "Fetch all pages and print them as one" },
    include: { kind: "boolean", short: "i", summary: "Print the response's status and headers first" },
    jq: { kind: "string", value: "expression", summary: "Filter the response with a jq expression" },
  },
  examples: [
    ["svc api projects", "GET /v1/projects"],
    [
      "svc api projects/{project_id}/change-requests -F status=all --paginate --jq '.change_requests[].number'",
      "All numbers",
    ],
    [
      "svc api -X PATCH projects/{project_id}/change-requests/3 -f title='A better title'",
      "Update a change request",
    ],
  ],
});

export const version = spec({
  path: ["version"],
  summary: "Print the version",
  args: [],
  flags: {},
  fields: ["version", "platform", "runtime"],
  examples: [
    ["svc version", "Only the version"],
    ["svc version --json", "With platform and runtime"],
  ],
});

export const help = spec({
  path: ["help"],
  summary: "Show help for a command or a topic",
  about: ["Topics: environment, exit-codes, extensions, json, sandbox."],
  args: [{ name: "topic-or-command", summary: "A topic or a command", many: true, completes: "topic" }],
  flags: {},
  examples: [
    ["svc help cr open", "A command"],
    ["svc help environment", "A topic"],
  ],
});

export const completion = spec({
  path: ["completion"],
  summary: "Print a completion script for your shell",
  args: [
    {
      name: "shell",
      summary: "bash, zsh, fish or powershell",
      required: true,
      choices: ["bash", "zsh", "fish", "powershell"],
    },
  ],
  flags: {},
  examples: [
    ['eval "$(svc completion bash)"', "bash: a line for ~/.bashrc"],
    ["svc completion zsh > ~/.zfunc/_svc", "zsh: a directory on your fpath"],
    ["svc completion fish > ~/.config/fish/completions/svc.fish", "fish"],
    ["svc completion powershell >> $PROFILE", "PowerShell"],
  ],
});

export const gitCredential = spec({
  path: ["git-credential"],
  summary: "Provide credentials to git (called by git; see gitcredentials(7))",
  about: [
    "For `get`, prints the token for the git URLs of the hosts that you are signed in to, and nothing for other URLs. `svc ship` configures it in a repository; docs/ship.md describes how to do it manually.",
  ],
  args: [
    {
      name: "operation",
      summary: "get, store or erase; the request is read from standard input",
      required: true,
    },
  ],
  flags: {},
  examples: [
    ["svc git-credential get < request.txt", "As git calls it"],
    ["printf 'protocol=https\\nhost=svc.example.com\\n' | svc git-credential get", "Call it manually"],
  ],
});

export const mcp = spec({
  path: ["mcp"],
  summary: "Serve svc's tools to a coding agent on this machine (Model Context Protocol on stdio)",
  about: [
    "Your agent starts it, and gets tools to list and read change requests, to comment on them, to start sessions and to prompt them, as you. It cannot approve or merge. docs/mcp.md has the configuration of Claude Code, Codex, Cursor and opencode.",
  ],
  args: [],
  flags: {},
  examples: [
    ["svc mcp", "As an agent starts it. Register it with: claude mcp add svc -- svc mcp"],
    ["svc mcp --host cloud", "For another host than the active one"],
  ],
});

/** Called by the completion scripts. It has no side effects and never fails. */
export const complete = spec({
  path: ["__complete"],
  summary: "Candidates for the last of the words",
  args: [{ name: "words", summary: "The command line", many: true }],
  flags: {},
  examples: [],
  hidden: true,
});

export const tools: Command[] = [
  bind(api, () => import("../commands/api.ts").then((module) => module.api)),
  bind(completion, () => import("../commands/completion.ts").then((module) => module.completion)),
  bind(version, () => import("../commands/version.ts").then((module) => module.version)),
  bind(gitCredential, () => import("../commands/git-credential.ts").then((module) => module.gitCredential)),
  bind(mcp, () => import("../commands/mcp.ts").then((module) => module.mcp)),
  bind(help, () => import("../commands/help.ts").then((module) => module.help)),
  bind(complete, () => import("../commands/complete.ts").then((module) => module.complete)),
];
