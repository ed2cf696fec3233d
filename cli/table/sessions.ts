import type { SavedWork } from "../../src/contract/saved-work.ts";
import type { ProviderName, Session, SessionStatus } from "../../src/contract/session.ts";
import { bind, type Group, spec } from "../spec.ts";
import { abort, prompt, prompts } from "./session-prompts.ts";

export const SESSION_FIELDS = [
  "session_id",
  "project_id",
  "account_id",
  "branch_name",
  "base_ref",
  "name",
  "agent_name",
  "model",
  "status",
  "step",
  "error",
  "stop_reason",
  "sandbox_provider",
  "sandbox_url",
  "sandbox_status",
  "walls",
  "saved",
  "created_by",
  "author",
  "created_at",
  "updated_at",
  "last_active_at",
] as const satisfies readonly (keyof Session)[];

/** Of the events that `sessions chat --json` prints. */
export const CHAT_FIELDS = [
  "type",
  "message_id",
  "text",
  "tool",
  "state",
  "title",
  "error",
  "subagent",
  "files",
  "id",
  "permission",
  "patterns",
  "questions",
  "attempt",
  "message",
  "next_at",
  "status",
  "outcome",
] as const;

const SAVED_FIELDS = [
  "commit",
  "base",
  "saved_at",
  "message",
  "files",
  "patch",
  "patch_base64",
  "truncated",
] as const satisfies readonly (keyof SavedWork)[];

const STATUSES = ["all", "provisioning", "running", "stopped", "failed"] as const satisfies readonly (
  | SessionStatus
  | "all"
)[];
const PROVIDERS = ["docker", "local", "kubernetes"] as const satisfies readonly ProviderName[];

const ID = {
  name: "id",
  summary: "Its id, or the first digits of it (four or more)",
  required: "ask",
  completes: "session",
} as const;

const OWN_ID = {
  name: "id",
  summary: `${ID.summary}; in a sandbox its own session ($SVC_SESSION_ID)`,
  completes: "session",
} as const;

const WAIT = {
  wait: { kind: "boolean", summary: "Wait for the outcome (the default)" },
  "no-wait": { kind: "boolean", summary: "Return as soon as the server has taken it" },
} as const;

const WAITING =
  "Waits for the outcome, at most --timeout seconds (1800 if left out): exit status 0 says that it is so. Ctrl-C ends the waiting and nothing else.";

export const ls = spec({
  path: ["sessions", "ls"],
  guesses: ["list"],
  summary: "List the project's sessions, the last changed first",
  args: [],
  flags: {
    status: {
      kind: "string",
      value: "status",
      choices: STATUSES,
      fallback: "all",
      summary: "all (the default), provisioning, running, stopped or failed",
    },
    limit: {
      kind: "integer",
      value: "n",
      min: 1,
      max: 10_000,
      short: "L",
      summary: "At most this many",
    },
  },
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions ls", "All of them"],
    ["svc sessions ls --status running --json=session_id,name", "Those that run, two fields as JSON"],
    ["svc sessions ls --status stopped --jq '.[].session_id'", "Only the ids"],
  ],
});

export const info = spec({
  path: ["sessions", "info"],
  guesses: ["show", "view", "status"],
  summary: "Show a session: its status, branch, agent and sandbox",
  about: [
    "Of a session that failed: the step, the reason, and the end of its log. Of one with work that is not pushed: when it was saved, or why it could not be.",
  ],
  args: [OWN_ID],
  flags: {},
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions info 1a2b3c4d", "One session"],
    ["svc sessions info 1a2b --jq .status", "Only its status"],
  ],
});

export const create = spec({
  path: ["sessions", "new"],
  guesses: ["create", "add", "run"],
  summary: "Start a session: a branch of its own, and an agent in a sandbox on it",
  about: [
    "The steps are shown as they happen: branch, image, sandbox, clone, runtime. Exit status 0 says that the session runs; when it fails, the step, the reason and the end of its log are shown.",
    "It is waited for at most --timeout seconds (1800 if left out). Ctrl-C ends the waiting; the session goes on.",
  ],
  args: [],
  flags: {
    prompt: {
      kind: "string",
      value: "text",
      short: "p",
      summary: "What the agent is to do first; `-` reads it from standard input",
    },
    name: { kind: "string", value: "name", summary: "What people call the session" },
    base: {
      kind: "string",
      value: "ref",
      summary: "The branch to begin from; the project's default branch if left out",
      aliases: ["from"],
      completes: "branch",
    },
    agent: {
      kind: "string",
      value: "name",
      completes: "agent",
      summary: "The agent; the project's own if left out",
    },
    model: { kind: "string", value: "name", summary: "The model; the agent's own if left out" },
    provider: {
      kind: "string",
      value: "provider",
      choices: PROVIDERS,
      summary: "Where the sandbox runs: docker, local or kubernetes; the server's choice if left out",
    },
    ...WAIT,
  },
  fields: SESSION_FIELDS,
  examples: [
    ['svc sessions new --prompt "Fix the login page"', "Start, and watch it boot"],
    ["svc sessions new --name login --base develop --prompt - < task.md", "A long prompt, another base"],
    ["svc sessions new --no-wait --jq .session_id", "Only start it, and print its id"],
  ],
});

export const restart = spec({
  path: ["sessions", "restart"],
  guesses: ["start", "resume"],
  summary: "Start a session again in a new sandbox, on the same branch",
  about: [
    "Also one that is stopped or has failed. Work that was saved and not pushed is brought back if you say so: on a terminal it asks, elsewhere it takes --restore. What is not brought back stays saved.",
    WAITING,
  ],
  args: [ID],
  flags: {
    restore: { kind: "boolean", summary: "Bring the saved work back" },
    "no-restore": { kind: "boolean", summary: "Start from what was pushed, and do not ask" },
    ...WAIT,
  },
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions restart 1a2b3c4d", "Start it again, and watch"],
    ["svc sessions restart 1a2b --restore", "With the work that was saved"],
    ["svc sessions restart 1a2b --no-wait --json=status", "Only begin"],
  ],
});

export const saved = spec({
  path: ["sessions", "saved"],
  guesses: ["work", "diff", "patch"],
  summary: "Show the work of a session that is saved and not pushed",
  about: [
    "On a terminal: coloured, in a pager (SVC_PAGER, PAGER, else less). Elsewhere: the patch byte for byte, as `git apply` takes it, on top of the session's branch. What was left out of it is told by the message of --json.",
  ],
  args: [OWN_ID],
  flags: { "no-pager": { kind: "boolean", summary: "Print straight to the terminal" } },
  fields: SAVED_FIELDS,
  examples: [
    ["svc sessions saved 1a2b3c4d", "Read it"],
    ["svc sessions saved 1a2b | git apply --3way", "Put it into your own checkout"],
    ["svc sessions saved 1a2b --jq '.files[].path'", "Only the changed files"],
  ],
});

export const stop = spec({
  path: ["sessions", "stop"],
  guesses: ["kill", "end"],
  summary: "Stop a session: its work is saved and its sandbox ended",
  about: [WAITING, "Its branch and its log stay; `svc sessions restart` starts it again."],
  args: [ID],
  flags: WAIT,
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions stop 1a2b3c4d", "Stop it, and wait until it has ended"],
    ["svc sessions stop 1a2b --no-wait", "Only begin"],
  ],
});

export const rm = spec({
  path: ["sessions", "rm"],
  guesses: ["delete", "remove"],
  summary: "Stop a session and delete it",
  about: ["Its branch stays in the repository, and so does its saved work."],
  args: [ID],
  flags: { yes: { kind: "boolean", short: "y", summary: "Do not ask" } },
  fields: ["session_id", "branch_name", "deleted"],
  examples: [
    ["svc sessions rm 1a2b3c4d", "Asks first"],
    [
      "svc sessions ls --status stopped --jq '.[].session_id' | xargs -n 1 svc sessions rm --yes",
      "All that are stopped",
    ],
  ],
});

export const rename = spec({
  path: ["sessions", "rename"],
  guesses: ["mv", "edit"],
  summary: "Give a session another name",
  args: [
    { ...ID, required: true },
    { name: "name", summary: "The new name", required: true },
  ],
  flags: {},
  fields: SESSION_FIELDS,
  examples: [
    ['svc sessions rename 1a2b3c4d "Login page"', "A new name"],
    ["svc sessions rename 1a2b login --json=name", "The same, as JSON"],
  ],
});

export const open = spec({
  path: ["sessions", "open"],
  summary: "Open a session's page in the browser",
  about: ["Away from a terminal, and in a sandbox, it prints the address instead."],
  args: [ID],
  flags: { "print-url": { kind: "boolean", summary: "Print the address, open nothing" } },
  fields: ["url"],
  examples: [
    ["svc sessions open 1a2b3c4d", "In the browser"],
    ["svc sessions open 1a2b --print-url", "Only its address"],
  ],
});

export const preview = spec({
  path: ["sessions", "preview"],
  guesses: ["url"],
  summary: "Print an address that shows what listens on a port of the sandbox",
  about: ["Whoever opens the address first is signed in to that port: treat it like a password."],
  args: [ID, { name: "port", summary: "The port in the sandbox; 3000 if left out" }],
  flags: { open: { kind: "boolean", summary: "Open it in the browser too" } },
  fields: ["url", "expires_at"],
  examples: [
    ["svc sessions preview 1a2b3c4d", "Port 3000"],
    ["svc sessions preview 1a2b 5173 --open", "Another port, in the browser"],
  ],
});

export const logs = spec({
  path: ["sessions", "logs"],
  guesses: ["log"],
  summary: "Show a session's log: what svc did, the image's build, the sandbox",
  about: [
    "Each line has its source: svc, build or sandbox. On a terminal with the time of day; elsewhere time, source and text are separated by tabs. Colours of builds and programs are taken away.",
    "--follow goes on until the session is stopped, has failed or is deleted.",
  ],
  args: [OWN_ID],
  flags: {
    follow: { kind: "boolean", short: "f", summary: "Show what is added, as it comes" },
    tail: { kind: "integer", value: "n", short: "n", min: 1, max: 10_000, summary: "Only the last lines" },
  },
  fields: ["lines", "truncated"],
  examples: [
    ["svc sessions logs 1a2b3c4d", "All of it"],
    ["svc sessions logs 1a2b -f --tail 20", "The last 20 lines, and what comes"],
    ["svc sessions logs 1a2b --jq '.lines[] | select(.source == \"build\") | .text'", "Only the build"],
  ],
});

export const chat = spec({
  path: ["sessions", "chat"],
  aliases: ["talk"],
  guesses: ["attach", "connect"],
  summary: "ChatClient to a session's agent, or ask it one thing",
  about: [
    "On a terminal: what was said last is shown, then the agent's words, tools and edits as they come. Enter sends; a backslash before it, or Alt-Enter, makes a new line. Ctrl-C aborts what the agent does, or clears the line; twice it leaves. /help lists the commands.",
    "With --prompt: the answer comes on standard output as it is written, what the agent does on standard error. Exit status 0 says that the run ended well; 1 that it failed, was aborted or cut off, or that it asked something which nobody could answer here. --json prints events, one a line.",
    "Without an id: the session that runs; where several do, a person chooses. One that is stopped is started first.",
  ],
  args: [
    {
      name: "id",
      summary: `${ID.summary}; the session that runs if left out`,
      completes: "session",
    },
  ],
  flags: {
    prompt: {
      kind: "string",
      value: "text",
      short: "p",
      summary: "Ask this and end with the answer; `-` reads it from standard input",
    },
    new: { kind: "boolean", summary: "Start a session first, and talk to that" },
  },
  fields: CHAT_FIELDS,
  examples: [
    ["svc sessions chat", "ChatClient to the session that runs"],
    ['svc sessions chat 1a2b --prompt "Run the tests and mend what fails"', "Ask one thing"],
    ["git diff | svc sessions chat 1a2b --prompt - --jq 'select(.type == \"text\").text'", "In a script"],
  ],
});

export const sessions: Group = {
  name: "sessions",
  summary: "Sessions: agents at work, each in a sandbox on its own branch",
  commands: [
    bind(ls, () => import("../commands/sessions/ls.ts").then((module) => module.ls)),
    bind(info, () => import("../commands/sessions/info.ts").then((module) => module.info)),
    bind(create, () => import("../commands/sessions/new.ts").then((module) => module.create)),
    bind(chat, () => import("../commands/sessions/chat.ts").then((module) => module.chat)),
    bind(restart, () => import("../commands/sessions/restart.ts").then((module) => module.restart)),
    bind(saved, () => import("../commands/sessions/saved.ts").then((module) => module.saved)),
    bind(stop, () => import("../commands/sessions/restart.ts").then((module) => module.stop)),
    bind(rm, () => import("../commands/sessions/rm.ts").then((module) => module.rm)),
    bind(rename, () => import("../commands/sessions/rename.ts").then((module) => module.rename)),
    bind(open, () => import("../commands/sessions/open.ts").then((module) => module.open)),
    bind(preview, () => import("../commands/sessions/preview.ts").then((module) => module.preview)),
    bind(prompt, () => import("../commands/sessions/prompt.ts").then((module) => module.prompt)),
    bind(prompts, () => import("../commands/sessions/prompts.ts").then((module) => module.prompts)),
    bind(abort, () => import("../commands/sessions/prompts.ts").then((module) => module.abort)),
    bind(logs, () => import("../commands/sessions/logs.ts").then((module) => module.logs)),
  ],
};
