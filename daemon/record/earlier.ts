import type { RecordedEarlier } from "../../src/contract/agent-record.ts";
import { parseJson, textField } from "../../src/contract/json.ts";

/** What svc knows of a session's earlier sandboxes. */
export interface Earlier {
  /** For an agent without its own record; null: nothing was said. */
  recap: string | null;
  /** Null: svc has no record of the agent. */
  recorded: RecordedEarlier | null;
}

/** Reads what svc has written into the daemon's environment. */
export function readEarlier(env: Readonly<Record<string, string | undefined>>): Earlier {
  const recorded = env["SVC_AGENT_RECORD"];
  return {
    recap: env["SVC_CONVERSATION_RECAP"] || null,
    recorded: recorded ? { since: textField(parseJson(recorded), "since") || null } : null,
  };
}
