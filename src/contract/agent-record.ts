import { type Static, Type } from "@sinclair/typebox";
import { AGENT_RECORD_BODY_MAX_BYTES } from "./limits.ts";

/** `/v1/projects/:id/git/agent-record`: the agent's own record of a session's conversation. */
export const agentRecord = Type.Object({
  /** The last turn in it, by the id of its prompt's message in the agent runtime. */
  turn_id: Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$" }),
  /** The folder of the clone, to which the record refers: it is of no use in another. */
  workspace: Type.String({ pattern: "^/[^\\0]{1,4095}$" }),
  /** A tar that gzip has compressed, with paths relative to the runtime's home, in base64. */
  record: Type.String({ maxLength: AGENT_RECORD_BODY_MAX_BYTES }),
});
export type AgentRecord = Static<typeof agentRecord>;

/** `SVC_AGENT_RECORD`, as JSON: svc has a record, which the daemon restores before it starts the agent. */
export interface RecordedEarlier {
  /** What happened after the record was saved, for the agent; null: nothing. */
  since: string | null;
}
