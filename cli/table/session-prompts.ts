import type { Prompt } from "../../src/contract/prompt.ts";
import { spec } from "../spec.ts";

export const PROMPT_FIELDS = [
  "prompt_id",
  "session_id",
  "number",
  "state",
  "error",
  "created_by",
  "author",
  "created_at",
  "started_at",
  "ended_at",
  "text",
] as const satisfies readonly (keyof Prompt)[];

const ID = {
  name: "id",
  summary: "The session's id, or the first digits of it (four or more)",
  completes: "session",
} as const;

export const prompt = spec({
  path: ["sessions", "prompt"],
  guesses: ["ask", "send", "say"],
  summary: "Say something to a session's agent, and go on",
  about: [
    "It waits while the session wakes or the agent is busy, and is answered in its turn. A session that is stopped is started again for it.",
    "--wait waits for what becomes of it, at most --timeout seconds (1800 if left out): exit status 0 says that it was answered. Ctrl-C ends the waiting and nothing else.",
  ],
  args: [
    { ...ID, required: true },
    { name: "text", summary: "What the agent is to do; `-` reads it from standard input", required: true },
  ],
  flags: { wait: { kind: "boolean", summary: "Wait until it is answered" } },
  fields: PROMPT_FIELDS,
  examples: [
    ['svc sessions prompt 1a2b3c4d "Run the tests"', "Put it into the queue"],
    ["svc sessions prompt 1a2b --wait - < task.md", "A long one, to its outcome"],
  ],
});

export const prompts = spec({
  path: ["sessions", "prompts"],
  guesses: ["queue"],
  summary: "List a session's prompts with their states, the newest first",
  args: [{ ...ID, required: "ask" }],
  flags: {
    limit: { kind: "integer", value: "n", min: 1, max: 10_000, short: "L", summary: "At most this many" },
    withdraw: {
      kind: "string",
      value: "prompt",
      summary: "Take this one back first, by its number or id, while it waits",
    },
  },
  fields: PROMPT_FIELDS,
  examples: [
    ["svc sessions prompts 1a2b3c4d", "All of them"],
    ["svc sessions prompts 1a2b --withdraw 4", "Take the fourth back"],
    ["svc sessions prompts 1a2b --jq '.[] | select(.state == \"failed\") | .error'", "Only the errors"],
  ],
});

export const abort = spec({
  path: ["sessions", "abort"],
  guesses: ["cancel", "interrupt"],
  summary: "End what a session's agent is doing",
  about: ["What waits behind it is begun next. The session runs on."],
  args: [{ ...ID, required: "ask" }],
  flags: {},
  fields: ["session_id", "aborted"],
  examples: [
    ["svc sessions abort 1a2b3c4d", "End it, and wait until it is over"],
    ["svc sessions abort 1a2b --json", "The same, as JSON"],
  ],
});
