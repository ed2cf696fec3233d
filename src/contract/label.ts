import { type Static, Type } from "@sinclair/typebox";
import { LABEL_DESCRIPTION_MAX, LABEL_NAME_MAX } from "./limits.ts";
import { nullable } from "./schema.ts";

/** The color of a label for which none is given: GitHub's. */
export const LABEL_COLOR = "ededed";

/** A name is one line, without commas, which separate names, and more than dots, which a URL would resolve. */
const name = Type.String({
  minLength: 1,
  maxLength: LABEL_NAME_MAX,
  pattern: "^(?=.*[^\\s.])[^,\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$",
  description: "Unique in the project, in upper or lower case; without commas",
});
const color = Type.String({ pattern: "^[0-9a-fA-F]{6}$", description: "Six hex digits" });
const description = Type.String({ maxLength: LABEL_DESCRIPTION_MAX });

/** A label as a change request carries it. */
export const labelRef = Type.Object({ name: Type.String(), color: Type.String() });
export type LabelRef = Static<typeof labelRef>;

/** A label of a project. */
export const label = Type.Object({
  name: Type.String(),
  color: Type.String({ description: "Six hex digits, in lower case" }),
  description: nullable(Type.String()),
});
export type Label = Static<typeof label>;

/** Body of `POST /v1/projects/:id/labels`. */
export const createLabelBody = Type.Object({
  name,
  color: Type.Optional(color),
  description: Type.Optional(nullable(description)),
});
export type CreateLabelBody = Static<typeof createLabelBody>;

/** Body of `PATCH /v1/projects/:id/labels/:name`. */
export const editLabelBody = Type.Partial(createLabelBody, { minProperties: 1 });
export type EditLabelBody = Static<typeof editLabelBody>;
