import type { AddCommentBody, Comment } from "../../../src/contract/comment.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { checkCommentId, type Found, findCr } from "./reference.ts";
import { placeOf } from "./show-comments.ts";

export const comment: Handler<typeof table.comment> = async (context, { args, flags }) => {
  const { cr, text } = wordsOf(args);
  const body: AddCommentBody = {
    body: await bodyOf(context, text, flags),
    ...(flags.file !== undefined && { path: flags.file }),
    ...(flags.line !== undefined && { line: flags.line }),
    ...(flags["start-line"] !== undefined && { start_line: flags["start-line"] }),
    ...(flags.side !== undefined && { side: flags.side }),
    ...(flags["reply-to"] !== undefined && { reply_to: flags["reply-to"] }),
  };
  await send(context, cr, body);
};

interface TextFlags {
  readonly body: string | undefined;
  readonly "body-file": string | undefined;
}

/** One word is a change request or, if it is `-` or a sentence, the text for that of the current branch. */
function wordsOf({ cr, text }: { readonly cr: string | undefined; readonly text: string | undefined }) {
  if (cr === undefined || text !== undefined || !(cr === "-" || /\s/.test(cr))) return { cr, text };
  return { cr: undefined, text: cr };
}

export const reply: Handler<typeof table.reply> = async (context, { args }) => {
  checkCommentId(args.comment);
  await send(context, args.cr, { body: await bodyOf(context, args.text), reply_to: args.comment });
};

/** The text of a comment, which is given once: as the argument or by a flag. @throws CliError `usage` */
export async function bodyOf(context: Context, text: string | undefined, flags?: TextFlags): Promise<string> {
  const file = flags?.["body-file"];
  const [given, ...more] = [text, flags?.body, file].filter((each) => each !== undefined);
  if (given === undefined)
    throw usage("The comment has no text.", 'Pass it as an argument: svc cr comment 3 "Looks good to me."');
  if (more.length > 0) throw usage("The text is given twice: pass an argument, --body or --body-file.");
  if (file !== undefined) return readText(context, file, "--body-file");
  return text === "-" ? readText(context, "-", "<text>") : given;
}

async function send(context: Context, cr: string | undefined, body: AddCommentBody): Promise<void> {
  const created = await addComment(await findCr(context, cr), body);
  await context.out.result(created, () => `Commented ${placeOf(created)}: ${created.comment_id}\n`);
}

const addComment = ({ api, path }: Found, body: AddCommentBody): Promise<Comment> =>
  api.call<Comment>({ method: "POST", path: `${path}/comments`, body, slow: true });
