import { type Static, Type } from "@sinclair/typebox";

/** A text to begin the description of a change request with: a file of the base branch. */
export const changeRequestTemplate = Type.Object({
  name: Type.String({ description: "The name of its file, without `.md` or `.txt`" }),
  path: Type.String({ description: "From the root of the repository" }),
  body: Type.String(),
  is_default: Type.Boolean({ description: "Whether it is used unless another one is chosen" }),
});
export type ChangeRequestTemplate = Static<typeof changeRequestTemplate>;

/** Answer of `GET …/change-request-templates`. */
export const changeRequestTemplates = Type.Object({ templates: Type.Array(changeRequestTemplate) });
export type ChangeRequestTemplates = Static<typeof changeRequestTemplates>;
