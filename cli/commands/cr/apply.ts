import type { AppliedSuggestions } from "../../../src/contract/comment.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { count } from "../../text.ts";
import { checkCommentId, findCr } from "./reference.ts";
import { placeOf } from "./show-comments.ts";

export const apply: Handler<typeof table.apply> = async (context, { args, flags }) => {
  const comment_ids = args.comment.flatMap((word) => word.split(",")).filter((id) => id !== "");
  for (const id of comment_ids) checkCommentId(id);
  const { api, path } = await findCr(context, args.cr);
  const applied = await api.call<AppliedSuggestions>({
    method: "POST",
    path: `${path}/comments/apply`,
    body: { comment_ids, ...(flags.message !== undefined && { message: flags.message }) },
    slow: true,
  });
  await context.out.result(applied, () => {
    const [first, ...more] = applied.comments;
    const threads =
      first && more.length === 0 ? `the thread ${placeOf(first)}` : count(applied.comments.length, "thread");
    return `Committed ${applied.commit_sha.slice(0, 10)} and resolved ${threads}.\n`;
  });
};
