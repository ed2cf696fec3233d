import { type Static, Type } from "@sinclair/typebox";
import { nullable, oneOf } from "./schema.ts";

/** What a session waits for that is not its own: a slot of its server, the git host, or the engine of the sandboxes. */
export const BLOCKERS = ["queue", "repository", "engine"] as const;

/** What a session waits for that is not its own. */
export const blockedOn = Type.Object({
  kind: oneOf(BLOCKERS),
  message: Type.String({ description: "As a sentence" }),
  position: nullable(Type.Integer({ description: "Its place in the queue; 1 starts next" })),
  length: nullable(Type.Integer({ description: "How many wait in the queue" })),
});
export type BlockedOn = Static<typeof blockedOn>;
