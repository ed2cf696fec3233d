import type { Comment } from "../../../src/contract/comment.ts";
import { COMMENTS_MAX } from "../../../src/contract/limits.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { findCr } from "./reference.ts";
import { commentsOf } from "./show-comments.ts";

export const comments: Handler<typeof table.comments> = async (context, { args, flags }) => {
  const { api, path } = await findCr(context, args.cr);
  const query = flags.open ? { open: "true" } : {};
  const found = await api.list<Comment>({ path: `${path}/comments`, query }, "comments", COMMENTS_MAX);
  await context.out.result(found, (view) => commentsOf(found, view));
  if (found.length === 0) await context.out.note(flags.open ? "No open comments." : "No comments.");
};
