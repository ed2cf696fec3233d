import { TRIES_MAX } from "../../src/contract/limits.ts";
import { RUNTIME_NAMES } from "../../src/contract/runtimes.ts";
import type { ProviderName, SessionStatus } from "../../src/contract/session.ts";
import { bind, type Group, spec } from "../spec.ts";
import { LIMIT_FLAG } from "./limit-flag.ts";
import { CHOICE, choices, edit, rename } from "./session-choice.ts";
import { conversation } from "./session-conversation.ts";
import { commands, cp, exec, shell, ssh, sshConfig } from "./session-exec.ts";
import { SAVED_FIELDS, SESSION_FIELDS } from "./session-fields.ts";
import { ID, OWN_ID } from "./session-id.ts";
import { ports, preview } from "./session-ports.ts";
import { ATTACH_TO_PROMPT, abort, answer, chat, prompt, prompts } from "./session-prompts.ts";
import { tries } from "./session-tries.ts";
import { diff, files } from "./session-workspace.ts";
import { WEB } from "./web.ts";

const STATUSES = ["all", "provisioning", "running", "stopped", "failed"] as const satisfies readonly (
  | SessionStatus
  | "all"
)[];
const PROVIDERS = ["docker", "local", "kubernetes"] as const satisfies readonly ProviderName[];

const WAIT = {
  wait: { kind: "boolean", summary: "Wait for the outcome (the default)" },
  "no-wait": { kind: "boolean", summary: "Return once the server has accepted the request" },
} as const;

const WAITING =
  "Waits for the outcome for up to --timeout seconds (1800 by default); exit status 0 means success. Ctrl-C ends only the wait.";

export const ls = spec({
  path: ["sessions", "ls"],
  summary: "List the project's sessions, the most recently changed first",
  args: [],
  flags: {
    status: {
      kind: "string",
      value: "status",
      short: "s",
      aliases: ["state"],
      choices: STATUSES,
      fallback: "all",
      summary: "all (the default), provisioning, running, stopped or failed",
    },
    limit: LIMIT_FLAG,
  },
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions ls", "List all"],
    ["svc sessions ls --status running --json=session_id,name", "Running sessions, two fields as JSON"],
    ["svc sessions ls --status stopped --jq '.[].session_id'", "Only the ids"],
  ],
});

export const info = spec({
  path: ["sessions", "info"],
  guesses: ["status"],
  summary: "Show a session: its status, branch, agent and sandbox",
  about: [
    "For a failed session: the step, the reason and the end of its log. For a session with unpushed work: when it was saved, or why it was not.",
  ],
  args: [OWN_ID],
  flags: WEB,
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions info 1a2b3c4d", "One session"],
    ["svc sessions info 1a2b --web", "Its page in the browser"],
    ["svc sessions info 1a2b --jq .status", "Only its status"],
  ],
});

export const create = spec({
  path: ["sessions", "new"],
  guesses: ["run"],
  summary: "Start a session: an agent in a sandbox, on its own branch",
  about: [
    "Prints the steps as they happen: branch, image, sandbox, clone, setup, runtime. Exit status 0 means that the session runs; if it fails, the step, the reason and the end of its log are printed.",
    "Waits for up to --timeout seconds (1800 by default). Ctrl-C ends the wait; the session continues.",
  ],
  args: [],
  flags: {
    prompt: {
      kind: "string",
      value: "text",
      guesses: ["task", "message"],
      short: "p",
      summary: "The first prompt for the agent; `-` reads it from standard input",
    },
    attach: ATTACH_TO_PROMPT,
    tries: {
      kind: "integer",
      value: "n",
      min: 2,
      max: TRIES_MAX,
      summary: "Start several sessions with the same prompt, to compare and choose from",
    },
    name: { kind: "string", value: "name", summary: "The name of the session" },
    base: {
      kind: "string",
      value: "ref",
      summary: "The branch to start from; defaults to the project's default branch",
      aliases: ["from"],
      completes: "branch",
    },
    agent: {
      kind: "string",
      value: "name",
      completes: "agent",
      summary: "The agent; defaults to the project's",
    },
    model: {
      kind: "string",
      value: "name",
      summary: "The model; defaults to the agent's. Several, separated by commas: one for each try",
    },
    ...CHOICE,
    provider: {
      kind: "string",
      value: "provider",
      choices: PROVIDERS,
      summary: "Where the sandbox runs: docker, local or kubernetes; by default the server chooses",
    },
    runtime: {
      kind: "string",
      value: "name",
      summary: `The agent that works in it: ${RUNTIME_NAMES.join(", ")}; defaults to the project's. Several: one for each try`,
    },
    ...WAIT,
  },
  fields: SESSION_FIELDS,
  examples: [
    ['svc sessions new --prompt "Fix the login page"', "Start a session and watch it boot"],
    ["svc sessions new --name login --base develop --prompt - < task.md", "A long prompt, another base"],
    [
      'svc sessions new --tries 3 --prompt "Make the start faster"',
      "Three tries; compare them with sessions tries",
    ],
    ["svc sessions new --no-wait --jq .session_id", "Do not wait, and print its id"],
  ],
});

export const restart = spec({
  path: ["sessions", "restart"],
  guesses: ["resume"],
  summary: "Restart a session in a new sandbox, on the same branch",
  about: [
    "Also works for a stopped or failed session. Saved work that is not pushed is restored on request: on a terminal svc asks, elsewhere pass --restore. Work that is not restored stays saved.",
    WAITING,
  ],
  args: [ID],
  flags: {
    restore: { kind: "boolean", summary: "Restore the saved work" },
    "no-restore": { kind: "boolean", summary: "Start from the pushed branch, without a prompt" },
    ...WAIT,
  },
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions restart 1a2b3c4d", "Restart it and watch"],
    ["svc sessions restart 1a2b --restore", "Restore the saved work"],
    ["svc sessions restart 1a2b --no-wait --json=status", "Do not wait"],
  ],
});

export const saved = spec({
  path: ["sessions", "saved"],
  guesses: ["work"],
  summary: "Show the saved, unpushed work of a session",
  about: [
    "On a terminal the patch is coloured and shown in a pager (SVC_PAGER, PAGER or less). Elsewhere it is printed unchanged, for `git apply` on top of the session's branch. The `message` of --json lists what the saved work leaves out.",
  ],
  args: [OWN_ID],
  flags: { "no-pager": { kind: "boolean", summary: "Do not use a pager" } },
  fields: SAVED_FIELDS,
  examples: [
    ["svc sessions saved 1a2b3c4d", "Read it"],
    ["svc sessions saved 1a2b | git apply --3way", "Apply it to your own checkout"],
    ["svc sessions saved 1a2b --jq '.files[].path'", "Only the changed files"],
  ],
});

export const stop = spec({
  path: ["sessions", "stop"],
  guesses: ["end"],
  summary: "Stop a session: save its work and remove its sandbox",
  about: [WAITING, "Its branch and log are kept; `svc sessions restart` restarts it."],
  args: [ID],
  flags: WAIT,
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions stop 1a2b3c4d", "Stop it and wait for the outcome"],
    ["svc sessions stop 1a2b --no-wait", "Do not wait"],
  ],
});

export const rm = spec({
  path: ["sessions", "rm"],
  summary: "Stop a session and delete it",
  about: ["Its branch and its saved work stay in the repository."],
  args: [ID],
  flags: { yes: { kind: "boolean", short: "y", summary: "Skip the confirmation prompt" } },
  fields: ["session_id", "branch_name", "deleted"],
  examples: [
    ["svc sessions rm 1a2b3c4d", "Delete it after a confirmation"],
    [
      "svc sessions ls --status stopped --jq '.[].session_id' | xargs -n 1 svc sessions rm --yes",
      "Delete all stopped sessions",
    ],
  ],
});

export const open = spec({
  path: ["sessions", "open"],
  summary: "Open a session's page in the browser",
  about: ["Without a terminal, and in a sandbox, it only prints the address."],
  args: [ID],
  flags: { "print-url": { kind: "boolean", summary: "Print the address without opening it" } },
  fields: ["url"],
  examples: [
    ["svc sessions open 1a2b3c4d", "In the browser"],
    ["svc sessions open 1a2b --print-url", "Only its address"],
  ],
});

export const logs = spec({
  path: ["sessions", "logs"],
  summary: "Show a session's log: svc's steps, the image build and the sandbox",
  about: [
    "Each line has its source: svc, build or sandbox. On a terminal it has the time of day; elsewhere time, source and text are separated by tabs. Colours in the output are removed.",
    "--follow ends when the session is stopped, fails or is deleted.",
  ],
  args: [OWN_ID],
  flags: {
    follow: { kind: "boolean", short: "f", summary: "Print new lines as they arrive" },
    tail: { kind: "integer", value: "n", short: "n", min: 1, max: 10_000, summary: "Only the last lines" },
  },
  fields: ["lines", "truncated"],
  examples: [
    ["svc sessions logs 1a2b3c4d", "The whole log"],
    ["svc sessions logs 1a2b -f --tail 20", "The last 20 lines, then new ones"],
    ["svc sessions logs 1a2b --jq '.lines[] | select(.source == \"build\") | .text'", "Only the image build"],
  ],
});

export const sessions: Group = {
  name: "sessions",
  summary: "Sessions: agents in sandboxes, each on its own branch",
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
    bind(edit, () => import("../commands/sessions/edit.ts").then((module) => module.edit)),
    bind(choices, () => import("../commands/sessions/choices.ts").then((module) => module.choices)),
    bind(open, () => import("../commands/sessions/open.ts").then((module) => module.open)),
    bind(preview, () => import("../commands/sessions/preview.ts").then((module) => module.preview)),
    bind(prompt, () => import("../commands/sessions/prompt.ts").then((module) => module.prompt)),
    bind(prompts, () => import("../commands/sessions/prompts.ts").then((module) => module.prompts)),
    bind(abort, () => import("../commands/sessions/prompts.ts").then((module) => module.abort)),
    bind(conversation, () =>
      import("../commands/sessions/conversation.ts").then((module) => module.conversation),
    ),
    bind(answer, () => import("../commands/sessions/answer.ts").then((module) => module.answer)),
    bind(tries, () => import("../commands/sessions/tries.ts").then((module) => module.tries)),
    bind(logs, () => import("../commands/sessions/logs.ts").then((module) => module.logs)),
    bind(ports, () => import("../commands/sessions/ports.ts").then((module) => module.ports)),
    bind(files, () => import("../commands/sessions/workspace.ts").then((module) => module.files)),
    bind(diff, () => import("../commands/sessions/workspace.ts").then((module) => module.diff)),
    bind(exec, () => import("../commands/sessions/exec.ts").then((module) => module.exec)),
    bind(shell, () => import("../commands/sessions/exec.ts").then((module) => module.shell)),
    bind(cp, () => import("../commands/sessions/cp.ts").then((module) => module.cp)),
    bind(ssh, () => import("../commands/sessions/ssh.ts").then((module) => module.ssh)),
    bind(sshConfig, () => import("../commands/sessions/ssh-config.ts").then((module) => module.sshConfig)),
    bind(commands, () => import("../commands/sessions/commands.ts").then((module) => module.commands)),
  ],
};
