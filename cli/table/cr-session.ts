import { spec } from "../spec.ts";
import { CR } from "./cr-id.ts";
import { UPDATED_FIELDS } from "./fields.ts";

const SENT_FIELDS = ["session_id", "prompt_id", "created"] as const;
const TO_WHICH = "It is the session that opened it, or a new one from its branch if that session is deleted.";

export const send = spec({
  path: ["cr", "send"],
  guesses: ["send-to-session"],
  summary: "Send the unresolved threads of a change request to the agent that works on it",
  about: [TO_WHICH],
  args: [CR],
  flags: {},
  fields: SENT_FIELDS,
  examples: [
    ["svc cr send 3", "After a review"],
    ["svc cr send 3 --jq .session_id", "Print the session"],
  ],
});

export const updateBranch = spec({
  path: ["cr", "update-branch"],
  guesses: ["sync"],
  summary: "Merge the base branch of a change request into its head branch",
  about: [
    "svc merges and pushes it as you. If the branches conflict, nothing changes: `svc cr resolve-conflicts` lets the agent resolve them.",
  ],
  args: [CR],
  flags: {},
  fields: UPDATED_FIELDS,
  examples: [
    ["svc cr update-branch 3", "If its base has moved"],
    ["svc cr update-branch", "That of the current branch"],
  ],
});

export const resolveConflicts = spec({
  path: ["cr", "resolve-conflicts"],
  summary: "Let the agent of a change request resolve its conflicts with the base branch",
  about: [TO_WHICH],
  args: [CR],
  flags: {},
  fields: SENT_FIELDS,
  examples: [
    ["svc cr resolve-conflicts 3", "If it cannot be merged"],
    ["svc cr resolve-conflicts 3 --jq .session_id", "Print the session"],
  ],
});
