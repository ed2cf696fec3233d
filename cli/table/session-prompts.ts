import { spec } from "../spec.ts";
import { LIMIT_FLAG } from "./limit-flag.ts";
import { CHAT_FIELDS, PROMPT_FIELDS } from "./session-fields.ts";

const ID = {
  name: "id",
  summary: "The session's id, or the first digits of it (four or more)",
  completes: "session",
} as const;

const ATTACH = {
  kind: "string",
  value: "file",
  many: true,
  completes: "file",
  guesses: ["file", "image"],
  summary: "Attach an image, a PDF or a text file; can be repeated",
} as const;

/** Beside `--prompt`. */
export const ATTACH_TO_PROMPT = { ...ATTACH, summary: `${ATTACH.summary}. Requires --prompt` } as const;

export const chat = spec({
  path: ["sessions", "chat"],
  aliases: ["talk"],
  guesses: ["attach", "connect"],
  summary: "Chat with a session's agent, or send it one prompt",
  about: [
    "On a terminal, shows the end of the conversation, then streams the agent's text, tools and edits. Enter sends; a backslash before Enter, or Alt-Enter, inserts a line break. Ctrl-C aborts the agent's run, or clears the line; Ctrl-C twice quits. /help lists the commands.",
    "With --prompt, streams the answer to standard output, and the agent's actions to standard error. Exit status 0 means that the run completed; 1 that it failed, was aborted or cut off, or that the agent waits for an answer: the request is printed with the command that answers it, and stays open. --json prints one event per line.",
    "Without an id, the running session is used; if there are several, svc asks on a terminal. A stopped session is restarted first.",
  ],
  args: [
    {
      name: "id",
      summary: `${ID.summary}; defaults to the running session`,
      completes: "session",
    },
  ],
  flags: {
    prompt: {
      kind: "string",
      value: "text",
      short: "p",
      summary: "Send this prompt and exit after the answer; `-` reads it from standard input",
    },
    attach: ATTACH_TO_PROMPT,
    new: { kind: "boolean", summary: "Start a new session for the chat" },
  },
  fields: CHAT_FIELDS,
  examples: [
    ["svc sessions chat", "Chat with the running session"],
    ['svc sessions chat 1a2b --prompt "Run the tests and fix what fails"', "Send one prompt"],
    ["git diff | svc sessions chat 1a2b --prompt - --jq 'select(.type == \"text\").text'", "In a script"],
  ],
});

export const prompt = spec({
  path: ["sessions", "prompt"],
  guesses: ["ask", "send", "say", "message"],
  summary: "Queue a prompt and return",
  about: [
    "The prompt waits in the session's queue while the session starts or the agent is busy. A stopped session is restarted for it.",
    "--wait waits for the answer for up to --timeout seconds (1800 by default); exit status 0 means that it was answered. If the agent asks something, the request and the command that answers it are printed; without a terminal, the wait ends then, with exit status 1. Ctrl-C ends only the wait.",
  ],
  args: [
    { ...ID, required: true },
    { name: "text", summary: "The prompt; `-` reads it from standard input", required: true },
  ],
  flags: { attach: ATTACH, wait: { kind: "boolean", summary: "Wait for the answer" } },
  fields: PROMPT_FIELDS,
  examples: [
    ['svc sessions prompt 1a2b3c4d "Run the tests"', "Queue a prompt"],
    ["svc sessions prompt 1a2b --wait - < task.md", "Send a long prompt and wait"],
    ['svc sessions prompt 1a2b "Fix the layout" --attach screenshot.png', "With an image"],
  ],
});

export const prompts = spec({
  path: ["sessions", "prompts"],
  guesses: ["queue"],
  summary: "List a session's prompts with their states, the newest first",
  args: [{ ...ID, required: "ask" }],
  flags: {
    limit: LIMIT_FLAG,
    withdraw: {
      kind: "string",
      value: "prompt",
      summary: "First withdraw this queued prompt, by its number or id",
    },
  },
  fields: PROMPT_FIELDS,
  examples: [
    ["svc sessions prompts 1a2b3c4d", "List all"],
    ["svc sessions prompts 1a2b --withdraw 4", "Withdraw the fourth"],
    ["svc sessions prompts 1a2b --jq '.[] | select(.state == \"failed\") | .error'", "Only the errors"],
  ],
});

export const abort = spec({
  path: ["sessions", "abort"],
  guesses: ["cancel", "interrupt"],
  summary: "Abort the run of a session's agent",
  about: ["The next queued prompt starts. The session keeps running."],
  args: [{ ...ID, required: "ask" }],
  flags: {},
  fields: ["session_id", "aborted"],
  examples: [
    ["svc sessions abort 1a2b3c4d", "Abort the run and wait for its end"],
    ["svc sessions abort 1a2b --json", "With JSON output"],
  ],
});

export const answer = spec({
  path: ["sessions", "answer"],
  guesses: ["reply", "allow", "approve"],
  summary: "Answer what a session's agent waits for",
  about: [
    "An agent waits when it asks a question, or for a permission. `svc sessions info` shows the request. On a terminal, svc shows it and asks for the answer.",
  ],
  args: [
    { ...ID, required: "ask" },
    {
      name: "answer",
      summary:
        "For a question: the text, or the label of an option. For a permission: once, always or reject",
      required: "ask",
    },
  ],
  flags: {},
  fields: ["session_id", "request_id", "answer"],
  examples: [
    ['svc sessions answer 1a2b3c4d "Use the second one"', "Answer a question"],
    ["svc sessions answer 1a2b once", "Allow a command, this time"],
    ["svc sessions answer 1a2b reject --json", "Refuse it"],
  ],
});
