import { Type } from "@sinclair/typebox";
import { REF_MAX_BYTES } from "../../contract/limits.ts";

/** The query of what is about one base branch. */
export const baseQuery = Type.Object({
  base: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: REF_MAX_BYTES,
      description: "The branch merged into; the default branch if omitted",
    }),
  ),
});
