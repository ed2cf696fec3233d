import { type Static, Type } from "@sinclair/typebox";
import { changeRequest, seenHead } from "./change-request.ts";
import { addCommentBody, comment } from "./comment.ts";
import { COMMENT_MAX_BYTES, REVIEW_COMMENTS_MAX } from "./limits.ts";
import { commitId } from "./schema.ts";

/** Body of `POST …/approve`; the body is optional. */
export const approveBody = Type.Optional(Type.Object({ head_commit_sha: Type.Optional(seenHead) }));

/** Body of `POST …/request-changes`. */
export const requestChangesBody = Type.Object({
  body: Type.String({
    minLength: 1,
    pattern: "\\S",
    description: "What has to change, in Markdown; up to 16 KiB",
  }),
  head_commit_sha: Type.Optional(seenHead),
});
export type RequestChangesBody = Static<typeof requestChangesBody>;

const { body, path, line, start_line, side } = addCommentBody.properties;

/** What a review says of the change: GitHub's names. */
const event = Type.Union(
  [Type.Literal("APPROVE"), Type.Literal("REQUEST_CHANGES"), Type.Literal("COMMENT")],
  { description: "REQUEST_CHANGES needs a body, and COMMENT a body or comments" },
);

/** Body of `POST …/reviews`. */
export const reviewBody = Type.Object({
  event,
  body: Type.Optional(
    Type.String({
      maxLength: COMMENT_MAX_BYTES,
      description: "The summary, in Markdown; up to 16 KiB with REQUEST_CHANGES",
    }),
  ),
  commit_id: Type.Optional(
    commitId(
      "The head commit that you reviewed. Its comments are on lines of that commit, and if the branch has moved, APPROVE and REQUEST_CHANGES answer 409 head_moved",
    ),
  ),
  comments: Type.Optional(
    Type.Array(
      Type.Object({
        ...{ body, path: Type.Optional(path, false), line, start_line, side },
        commit_id: Type.Optional(
          commitId("The head commit that has the lines, if it is not that of the review"),
        ),
      }),
      { maxItems: REVIEW_COMMENTS_MAX },
    ),
  ),
});
export type ReviewBody = Static<typeof reviewBody>;

/** Answer of `POST …/reviews`. */
export const submittedReview = Type.Object({
  change_request: changeRequest,
  comments: Type.Array(comment, {
    description: "The comments of the review, its summary first, unless that is a request for changes",
  }),
});
export type SubmittedReview = Static<typeof submittedReview>;
