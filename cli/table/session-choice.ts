import { PERMISSION_MODES } from "../../src/contract/runtimes.ts";
import type { SessionChoices } from "../../src/contract/session.ts";
import { spec } from "../spec.ts";
import { fieldsOf } from "./fields.ts";
import { SESSION_FIELDS } from "./session-fields.ts";
import { ID, OWN_ID } from "./session-id.ts";

/** What the agent of a session works with, for commands that start or change one. */
export const CHOICE = {
  mode: {
    kind: "string",
    value: "mode",
    choices: PERMISSION_MODES,
    summary:
      "What the agent may do without asking: ask (read), auto-edit (change files, too) or full (everything, the default)",
  },
  effort: {
    kind: "string",
    value: "name",
    summary: "The reasoning effort of the model, such as high; defaults to the model's own",
  },
} as const;

export const edit = spec({
  path: ["sessions", "edit"],
  guesses: ["set", "update", "change"],
  summary: "Change what the agent of a session works with, or its name",
  about: [
    "The model, the agent, the mode and the effort apply to the next prompt: an answer that is under way is not changed. `svc sessions choices` lists them.",
  ],
  args: [ID],
  flags: {
    name: { kind: "string", value: "name", summary: "The name of the session" },
    model: { kind: "string", value: "name", summary: "The model, such as svc/<model of the gateway>" },
    agent: {
      kind: "string",
      value: "name",
      completes: "agent",
      summary: "The agent; `default` is the project's",
    },
    mode: CHOICE.mode,
    effort: { ...CHOICE.effort, summary: "The reasoning effort of the model; `default` is the model's own" },
  },
  fields: SESSION_FIELDS,
  examples: [
    ["svc sessions edit 1a2b3c4d --model svc/large --effort high", "Another model"],
    ["svc sessions edit 1a2b --mode ask", "The agent asks before it changes something"],
    ["svc sessions edit 1a2b --agent default --json=agent_name,model", "With JSON output"],
  ],
});

export const choices = spec({
  path: ["sessions", "choices"],
  guesses: ["models"],
  summary: "List the models, agents, modes and efforts that a session can work with",
  about: [
    "A running agent names them itself. For others, svc shows what the same agent has named in the project's last session, or what svc knows.",
  ],
  args: [OWN_ID],
  flags: {},
  fields: fieldsOf<SessionChoices>()([
    "runtime",
    "source",
    "current",
    "models",
    "other_models",
    "agents",
    "modes",
  ]),
  examples: [
    ["svc sessions choices 1a2b3c4d", "List them"],
    ["svc sessions choices 1a2b --jq '.models[].id'", "Only the models"],
  ],
});

export const rename = spec({
  path: ["sessions", "rename"],
  guesses: ["mv"],
  summary: "Rename a session",
  args: [
    { ...ID, required: true },
    { name: "name", summary: "The new name", required: true },
  ],
  flags: {},
  fields: SESSION_FIELDS,
  examples: [
    ['svc sessions rename 1a2b3c4d "Login page"', "Rename it"],
    ["svc sessions rename 1a2b login --json=name", "With JSON output"],
  ],
});
