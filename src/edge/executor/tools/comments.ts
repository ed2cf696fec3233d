import { Type } from "@sinclair/typebox";
import { addCommentBody, type Comment } from "../../../contract/comment.ts";
import { addComment } from "../../../features/change-requests/comments/add.ts";
import { listComments } from "../../../features/change-requests/comments/list.ts";
import { projectTool, type Tool } from "../tool.ts";
import { authorText, cut, numberField, pageFields, pageOf } from "./shown.ts";

/** Characters of each comment in a list. */
const BODY_MAX = 4_000;

const { body, path, line, side, reply_to } = addCommentBody.properties;

export const commentTools: Tool[] = [
  projectTool({
    name: "list_comments",
    title: "List the comments of a change request",
    description:
      "Lists the review comments of a change request, oldest first. A comment with `path` and `line` is about that line of the diff. Replies have `reply_to`, the first comment of their thread.",
    isRead: true,
    callers: "all",
    fields: {
      number: numberField,
      unresolved_only: Type.Optional(
        Type.Boolean({ description: "Whether to omit threads that are resolved" }),
      ),
      ...pageFields,
    },
    async run(deps, { project }, { number, unresolved_only = false, ...rest }) {
      const { comments, ...next } = await listComments(deps, project, String(number), {
        ...pageOf(rest),
        isOpen: unresolved_only,
      });
      return { comments: comments.map(shown), ...next };
    },
  }),
  projectTool({
    name: "comment_on_change_request",
    title: "Comment on a change request",
    description:
      "Adds a comment to a change request: to the whole of it, to a line of its diff (`path`, `line` and `side`), or as a reply (`reply_to`, without a position). Only people resolve threads, approve and merge.",
    isRead: false,
    callers: "all",
    fields: { number: numberField, body, path, line, side, reply_to },
    async run(deps, { caller, project }, { number, ...comment }) {
      return shown(await addComment(deps, caller, project, String(number), comment));
    },
  }),
];

function shown({ author, body, ...comment }: Comment): Record<string, unknown> {
  const { comment_id, reply_to, path, line, side, resolved_at, created_at } = comment;
  return {
    comment_id,
    author: authorText(author),
    body: cut(body, BODY_MAX),
    ...(path !== null && { path, line, side }),
    ...(reply_to !== null && { reply_to }),
    resolved: resolved_at !== null,
    created_at,
  };
}
