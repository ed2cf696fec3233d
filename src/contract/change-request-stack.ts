import { type Static, Type } from "@sinclair/typebox";

/** An open change request of a stack. */
export const stacked = Type.Object({
  number: Type.Integer({ minimum: 1 }),
  title: Type.String(),
  draft: Type.Boolean(),
  head_ref: Type.String(),
  base_ref: Type.String(),
  level: Type.Integer({
    description: "0: the one that was asked for; 1: based on its head branch; -1: of its base branch",
  }),
});
export type Stacked = Static<typeof stacked>;

/** Answer of `GET …/change-requests/:crId/stack`. */
export const changeRequestStack = Type.Object({
  stack: Type.Array(stacked, {
    description: "The lowest first, with the one that was asked for; empty if nothing is below or above it",
  }),
});
export type ChangeRequestStack = Static<typeof changeRequestStack>;
