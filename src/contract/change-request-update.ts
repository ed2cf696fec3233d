import { type Static, Type } from "@sinclair/typebox";
import { seenHead } from "./change-request.ts";
import { commitId } from "./schema.ts";

const updateBranch = Type.Object({
  head_commit_sha: Type.Optional(seenHead),
  base_commit_sha: Type.Optional(
    commitId("The base commit that you looked at; if the base has moved, the answer is 409 base_moved"),
  ),
});
export type UpdateBranchBody = Static<typeof updateBranch>;

/** Body of `POST …/update-branch`; the body is optional. */
export const updateBranchBody = Type.Optional(updateBranch);

/** Answer of `POST …/update-branch`. */
export const updatedBranch = Type.Object({
  updated: Type.Boolean({ description: "False: the head branch had every commit of the base already" }),
  head_commit_sha: Type.String({ description: "The head now" }),
  base_commit_sha: Type.String({ description: "The base that it has" }),
});
export type UpdatedBranch = Static<typeof updatedBranch>;
