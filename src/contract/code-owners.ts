import { type Static, Type } from "@sinclair/typebox";

/** The owners of the files that a change request changes, by the CODEOWNERS file of its base. */
export const codeOwners = Type.Object({
  path: Type.Union([Type.String(), Type.Null()], {
    description: "The file that was read; null: there is none",
  }),
  base_sha: Type.String({ description: "The commit that it was read from" }),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      owners: Type.Array(Type.Object({ user_id: Type.String(), name: Type.String() })),
      line: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        description: "The last line of the file whose pattern matches; null: none does",
      }),
    }),
  ),
  errors: Type.Array(Type.Object({ line: Type.Integer({ minimum: 1 }), message: Type.String() })),
  truncated: Type.Boolean({ description: "There are more files, or more errors" }),
});
export type CodeOwners = Static<typeof codeOwners>;
