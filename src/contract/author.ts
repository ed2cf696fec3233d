import { type Static, Type } from "@sinclair/typebox";

/** Who did something: a person, the agent of a session on behalf of one, or a script with a project token. */
export const author = Type.Object({
  user_id: Type.String({ format: "uuid", description: "The person, also where an agent or a token acted" }),
  name: Type.String({ description: "The person's; the token's where a token acted" }),
  kind: Type.Union([Type.Literal("user"), Type.Literal("agent"), Type.Literal("token")]),
  session_id: Type.Union([Type.String({ description: "The agent's session" }), Type.Null()]),
});
export type Author = Static<typeof author>;
