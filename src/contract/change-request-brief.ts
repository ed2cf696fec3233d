import { type Static, Type } from "@sinclair/typebox";

/** What an agent is told of a change request that a prompt mentions. */
export const changeRequestBrief = Type.Object({
  name: Type.String({ description: "A file name" }),
  text: Type.String({ description: "In Markdown; what people and agents wrote is quoted" }),
});
export type ChangeRequestBrief = Static<typeof changeRequestBrief>;
