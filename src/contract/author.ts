import { type Static, Type } from "@sinclair/typebox";

/** The author of an action: a person, an agent on behalf of a person, or a script with a project token. */
export const author = Type.Object({
  user_id: Type.String({ format: "uuid", description: "The person, also if an agent or a token acted" }),
  name: Type.String({ description: "The name of the person, or of the token if a token acted" }),
  kind: Type.Union([Type.Literal("user"), Type.Literal("agent"), Type.Literal("token")]),
  session_id: Type.Union([Type.String({ description: "The agent's session" }), Type.Null()]),
});
export type Author = Static<typeof author>;
