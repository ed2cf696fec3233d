import { spec } from "../spec.ts";
import { TRY_FIELDS } from "./session-fields.ts";
import { ID } from "./session-id.ts";

export const tries = spec({
  path: ["sessions", "tries"],
  guesses: ["compare", "siblings"],
  summary: "Compare the sessions that try one task, and choose one",
  about: [
    "Shows what each of them has pushed, its checks and its change request. `svc sessions new --tries` starts them.",
    "--choose opens the change request of one and stops the others; their work stays on their branches.",
  ],
  args: [{ ...ID, summary: "The id of one of the sessions, or the first digits of it (four or more)" }],
  flags: {
    choose: {
      kind: "string",
      value: "session",
      completes: "session",
      summary: "Choose this one: its id, or the first digits of it",
    },
    yes: { kind: "boolean", short: "y", summary: "Choose without a question" },
  },
  fields: TRY_FIELDS,
  examples: [
    ["svc sessions tries 1a2b3c4d", "Compare them"],
    ["svc sessions tries 1a2b --choose 5e6f", "Choose one"],
    ["svc sessions tries 1a2b --jq '.[] | {id: .session.session_id, change}'", "In a script"],
  ],
});
