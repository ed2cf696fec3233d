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
  summary: "Queue a prompt and return",
  about: [
    "The prompt waits in the session's queue while the session starts or the agent is busy. A stopped session is restarted for it.",
    "--wait waits for the answer for up to --timeout seconds (1800 by default); exit status 0 means that it was answered. Ctrl-C ends only the wait.",
  ],
  args: [
    { ...ID, required: true },
    { name: "text", summary: "The prompt; `-` reads it from standard input", required: true },
  ],
  flags: { wait: { kind: "boolean", summary: "Wait for the answer" } },
  fields: PROMPT_FIELDS,
  examples: [
    ['svc sessions prompt 1a2b3c4d "Run the tests"', "Queue a prompt"],
    ["svc sessions prompt 1a2b --wait - < task.md", "Send a long prompt and wait"],
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
