import { type Static, Type } from "@sinclair/typebox";
import { oneOf } from "./schema.ts";

/** Whether an agent runs a conversation (primary), is called by another agent, or both. */
export const AGENT_MODES = ["primary", "subagent", "all"] as const;

/** An agent that sessions of a project can use. */
export const agent = Type.Object({
  name: Type.String({ description: "The value for `agent_name` of a session" }),
  description: Type.Union([Type.String(), Type.Null()]),
  mode: oneOf(AGENT_MODES),
  source: oneOf(["project", "runtime"] as const),
});
export type Agent = Static<typeof agent>;
