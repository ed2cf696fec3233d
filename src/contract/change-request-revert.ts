import { type Static, Type } from "@sinclair/typebox";
import { openChangeRequestBody } from "./change-request.ts";

const { title, description } = openChangeRequestBody.properties;

/** Body of `POST …/revert`; the body is optional. */
export const revertChangeRequestBody = Type.Optional(
  Type.Object({
    title: Type.Optional(title),
    description,
    branch: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "The branch to create; by default `revert-<number>-<branch>`, with another number if it is taken",
      }),
    ),
  }),
);
export type RevertChangeRequestBody = NonNullable<Static<typeof revertChangeRequestBody>>;
