import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { COMMENT_MAX_BYTES, CONTEXT_MAX, PATH_MAX_BYTES, SUGGESTIONS_MAX } from "./limits.ts";
import { commitId, nullable } from "./schema.ts";

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
/** The side of a diff that a line is on: before or after the change. */
const side = Type.Union([Type.Literal("old"), Type.Literal("new")]);

/** A comment on a change request as it crosses the wire. */
export const comment = Type.Object({
  comment_id: uuid,
  cr_id: uuid,
  reply_to: nullable(
    Type.String({ description: "The first comment of its thread; null for that comment itself" }),
  ),
  body: Type.String({ description: "Markdown" }),
  path: nullable(Type.String({ description: "The name of the file at the head now" })),
  line: nullable(Type.Integer({ minimum: 1, description: "Where the line is now; null if it is outdated" })),
  start_line: nullable(
    Type.Integer({ minimum: 1, description: "The first of several lines, of which `line` is the last" }),
  ),
  side: nullable(side),
  outdated: Type.Boolean({ description: "The line was changed or removed after the comment" }),
  original_path: nullable(Type.String({ description: "The file, when the comment was written" })),
  original_line: nullable(Type.Integer({ minimum: 1, description: "The line, when it was written" })),
  original_start_line: nullable(Type.Integer({ minimum: 1 })),
  quote: nullable(Type.String({ description: "The text of the lines, when it was written, up to 1 KiB" })),
  head_commit_sha: nullable(
    Type.String({
      description: "The head of the diff, when it was written; null for a comment without a file",
    }),
  ),
  author,
  resolved_at: nullable(time),
  resolved_by: nullable(uuid),
  created_at: time,
  updated_at: time,
});
export type Comment = Static<typeof comment>;

const body = Type.String({ minLength: 1, maxLength: COMMENT_MAX_BYTES, pattern: "\\S" });

/** Body of `POST …/change-requests/:crId/comments`. A reply has the position of its thread. */
export const addCommentBody = Type.Object({
  body,
  path: Type.Optional(Type.String({ minLength: 1, maxLength: PATH_MAX_BYTES })),
  line: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
  start_line: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2 ** 31 - 1,
      description: "The first of several lines; `line` is the last",
    }),
  ),
  side: Type.Optional(side),
  reply_to: Type.Optional(uuid),
});
export type AddCommentBody = Static<typeof addCommentBody>;

const reviewed = Type.Optional(
  commitId("The head commit that you reviewed; if the branch has moved, the answer is 409 head_moved"),
);

/** Body of `POST …/comments/:commentId/apply`. */
export const applySuggestionBody = Type.Optional(Type.Object({ head_commit_sha: reviewed }));

/** Body of `POST …/comments/apply`. */
export const applySuggestionsBody = Type.Object({
  comment_ids: Type.Array(uuid, { minItems: 1, maxItems: SUGGESTIONS_MAX }),
  head_commit_sha: reviewed,
  message: Type.Optional(
    Type.String({
      minLength: 1,
      description: "The message of the commit; svc adds trailers for who suggested the changes",
    }),
  ),
});
export type ApplySuggestionsBody = Static<typeof applySuggestionsBody>;

/** Answer of `POST …/comments/apply`. */
export const appliedSuggestions = Type.Object({
  commit_sha: Type.String({
    description: "The commit of the suggestions, which is the head of the branch now",
  }),
  comments: Type.Array(comment, { description: "The first comments of their threads, which are resolved" }),
});
export type AppliedSuggestions = Static<typeof appliedSuggestions>;

/** Answer of `POST …/comments/:commentId/apply`. */
export const appliedSuggestion = Type.Object({
  commit_sha: Type.String({
    description: "The commit of the suggestion, which is the head of the branch now",
  }),
  comment,
});

/** Body of `POST …/change-requests/:crId/send-to-session`; without a body, all unresolved threads are sent. */
export const sendToSessionBody = Type.Optional(
  Type.Object({ comment_ids: Type.Optional(Type.Array(uuid, { minItems: 1, maxItems: 200 })) }),
);

/** Body of `POST …/checks/send-to-session`; without names, all failed checks are sent. */
export const sendChecksBody = Type.Optional(
  Type.Object({
    names: Type.Optional(Type.Array(Type.String({ maxLength: CONTEXT_MAX }), { minItems: 1, maxItems: 100 })),
  }),
);

/** Answer of `POST …/send-to-session` and `…/resolve-conflicts`: the prompt and its session. */
export const sentToSession = Type.Object({
  session_id: uuid,
  prompt_id: uuid,
  created: Type.Boolean({ description: "Whether a new session was created" }),
});
export type SentToSession = Static<typeof sentToSession>;

/** Body of `PATCH …/comments/:commentId`. */
export const editCommentBody = Type.Object({ body });
