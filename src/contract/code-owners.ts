import { type Static, Type } from "@sinclair/typebox";
import { person } from "./people.ts";
import { nullable } from "./schema.ts";

/** The owners of the files that a change request changes, by the CODEOWNERS file of its base. */
export const codeOwners = Type.Object({
  path: nullable(Type.String(), "The file that was read; null: there is none"),
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

/** Changed files that no code owner has approved. One line of the CODEOWNERS file decides about all of them. */
const missingReview = Type.Object({
  line: nullable(Type.Integer({ minimum: 1 }), "Null: the change request has too many files"),
  files: Type.Array(Type.String(), { description: "The first of them" }),
  total: Type.Integer({ description: "How many there are" }),
  owners: Type.Array(person, { description: "The approval of one of them is enough" }),
  problem: nullable(Type.String(), "Why no approval can count"),
});
export type MissingReview = Static<typeof missingReview>;

/** How far the code owners of a change request have approved its last commit. */
export const codeOwnerReviews = Type.Object({
  state: Type.Union([Type.Literal("approved"), Type.Literal("missing"), Type.Literal("pending")], {
    description: "`approved` also if no file has owners; `pending`: its files have not been read yet",
  }),
  missing: Type.Array(missingReview),
});
export type CodeOwnerReviews = Static<typeof codeOwnerReviews>;

/** The changed files that one line of a CODEOWNERS file decides about. */
export interface OwnedFiles {
  line: number;
  /** As written: `@name` or an e-mail address. */
  owners: string[];
  /** The line, or one after it that could also decide, cannot be read. */
  isUnread: boolean;
  /** The first of them. */
  files: string[];
  total: number;
}

/** What a CODEOWNERS file says of changed files, without those that have no owner. */
export interface Ownership {
  lines: OwnedFiles[];
  /** False: there are more files. */
  isComplete: boolean;
}
