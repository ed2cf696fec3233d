import type { AppliedSuggestion } from "../../../src/contract/comment.ts";
import { path as at } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { checkCommentId, findCr } from "./reference.ts";
import { placeOf } from "./show-comments.ts";

export const apply: Handler<typeof table.apply> = async (context, { args }) => {
  checkCommentId(args.comment);
  const { api, path } = await findCr(context, args.cr);
  const request = {
    method: "POST",
    path: `${path}/comments${at`/${args.comment}`}/apply`,
    slow: true,
  } as const;
  const applied = await api.call<AppliedSuggestion>(request);
  const commit = applied.commit_sha.slice(0, 10);
  await context.out.result(
    applied,
    () => `Committed ${commit} and resolved the thread ${placeOf(applied.comment)}.\n`,
  );
};
