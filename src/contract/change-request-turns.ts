import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "./schema.ts";
import { plan, turnChange } from "./turn.ts";

/** A turn of the session that a change request came from, with what it wrote. */
export const changeRequestTurn = Type.Composite([
  Type.Pick(turnChange, ["turn_id", "number", "author", "state", "started_at"]),
  Type.Object({
    prompt: Type.String({ description: "The beginning of the prompt" }),
    edits: Type.Array(
      Type.Object({
        path: Type.String({
          description: "As the tool reported it: an absolute path, or one in the repository",
        }),
        lines: Type.Array(Type.String({ description: "A line that it wrote, without the space around it" })),
      }),
    ),
    cut: Type.Boolean({ description: "Whether it wrote more than is listed" }),
  }),
]);
export type ChangeRequestTurn = Static<typeof changeRequestTurn>;

/** Answer of `GET /v1/projects/:id/change-requests/:crId/turns`. */
export const changeRequestTurns = Type.Object({
  session_id: nullable(Type.String(), "Null if no session opened the change request, or it is deleted"),
  plan: nullable(plan, "The newest plan of the session's agent"),
  turns: Type.Array(changeRequestTurn, { description: "The newest first" }),
  next_cursor: Type.Optional(Type.String()),
});
export type ChangeRequestTurns = Static<typeof changeRequestTurns>;
