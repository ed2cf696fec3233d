import type { AddCommentBody, Comment } from "../../../src/contract/comment.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { findCr } from "./reference.ts";
import { placeOf } from "./show-comments.ts";

export const comment: Handler<typeof table.comment> = async (context, { args, flags }) => {
  const text = args.text === "-" ? await readText(context, "-", "<text>") : args.text;
  const { api, path } = await findCr(context, args.cr);
  const body: AddCommentBody = {
    body: text,
    ...(flags.file !== undefined && { path: flags.file }),
    ...(flags.line !== undefined && { line: flags.line }),
    ...(flags.side !== undefined && { side: flags.side }),
    ...(flags["reply-to"] !== undefined && { reply_to: flags["reply-to"] }),
  };
  const created = await api.call<Comment>({ method: "POST", path: `${path}/comments`, body, slow: true });
  await context.out.result(created, () => `Commented ${placeOf(created)}: ${created.comment_id}\n`);
};
