import { type Static, Type } from "@sinclair/typebox";

/** Whether an agent leads a conversation, is called by one that does, or both. */
export const AGENT_MODES = ["primary", "subagent", "all"] as const;

const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>(Type.String({ enum: [...values] }));

/** An agent that sessions of a project can have, as it crosses the wire. */
export const agent = Type.Object({
  name: Type.String({ description: "What `agent_name` of a session takes" }),
  description: Type.Union([Type.String(), Type.Null()]),
  mode: oneOf(AGENT_MODES),
  source: oneOf(["project", "runtime"] as const),
});
export type Agent = Static<typeof agent>;
