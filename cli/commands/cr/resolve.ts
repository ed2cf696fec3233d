import type { Comment } from "../../../src/contract/comment.ts";
import { path as at } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { checkCommentId, findCr } from "./reference.ts";
import { placeOf } from "./show-comments.ts";

export const resolve: Handler<typeof table.resolve> = async (context, { args, flags }) => {
  checkCommentId(args.comment);
  const { api, path } = await findCr(context, args.cr);
  const thread = `${path}/comments${at`/${args.comment}`}`;
  const verb = flags.undo ? "unresolve" : "resolve";
  const comment = await api.call<Comment>({ method: "POST", path: `${thread}/${verb}` });
  const outcome = flags.undo ? "Reopened the thread" : "Resolved the thread";
  await context.out.result(comment, () => `${outcome} ${placeOf(comment)}.\n`);
};
