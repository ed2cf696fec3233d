import { spec } from "../spec.ts";
import { LIMIT_FLAG } from "./limit-flag.ts";
import { TURN_FIELDS } from "./session-fields.ts";
import { OWN_ID } from "./session-id.ts";

export const conversation = spec({
  path: ["sessions", "conversation"],
  guesses: ["transcript", "history", "turns", "messages"],
  summary: "Show what was said and done in a session, also after its end",
  about: [
    "Prints Markdown: the prompts, the answers, and the uses of tools, the oldest first. On a terminal it is shown in a pager. The server keeps the conversation while the session exists; values of the project's secrets are replaced by their names.",
  ],
  args: [OWN_ID],
  flags: {
    limit: { ...LIMIT_FLAG, summary: "Only the last turns, at most this many" },
    details: { kind: "boolean", summary: "Also the thoughts, and the inputs and outputs of tools" },
    "no-pager": { kind: "boolean", summary: "Do not use a pager" },
  },
  fields: TURN_FIELDS,
  examples: [
    ["svc sessions conversation 1a2b3c4d", "Read all of it"],
    ["svc sessions conversation 1a2b --limit 3 --details", "The last three turns, with the tools' outputs"],
    ["svc sessions conversation 1a2b > conversation.md", "Export it as Markdown"],
    ["svc sessions conversation 1a2b --json=turn_id,state,parts", "Export it as JSON"],
  ],
});
