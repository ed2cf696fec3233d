import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Comment } from "../../../src/contract/comment.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { approvedText, approveHead } from "./approve.ts";
import { addComment, bodyOf } from "./comment.ts";
import { type Found, findCr, readCr } from "./reference.ts";
import { REQUESTED, requestOfHead } from "./request-changes.ts";
import { outcome } from "./show-cr.ts";

export const review: Handler<typeof table.review> = async (context, { args, flags }) => {
  const request = flags["request-changes"];
  if ([flags.approve, flags.comment, request].filter(Boolean).length !== 1) {
    throw usage(
      "svc cr review needs one of --approve, --comment and --request-changes.",
      "--body <text> adds the text to each of them.",
    );
  }
  const hasText = flags.body !== undefined || flags["body-file"] !== undefined;
  if (flags.comment && !hasText) throw usage("The comment has no text: pass --body or --body-file.");
  if (request && !hasText) throw usage("Say what has to change: pass --body or --body-file.");
  const body = hasText ? await bodyOf(context, undefined, flags) : null;
  const found = await findCr(context, args.cr);
  if (request) {
    const cr = await requestOfHead(found, body ?? "");
    return await context.out.result({ ...cr, comment: null }, (view) => outcome(cr, REQUESTED, view));
  }
  const approved = flags.approve ? await approveHead(found) : null;
  const comment = body === null ? null : await addText(found, body, approved);
  const cr = approved ?? (await readCr(found));
  const sentence = [approved && approvedText(approved), comment && `commented, ${comment.comment_id}`]
    .filter((part) => part !== null)
    .join("; ");
  await context.out.result({ ...cr, comment }, (view) => outcome(cr, sentence, view));
};

/** Adds the text of a review. An approval before it stands if this fails. */
async function addText(found: Found, body: string, approved: ChangeRequest | null): Promise<Comment> {
  try {
    return await addComment(found, { body });
  } catch (error) {
    if (approved === null || !(error instanceof CliError)) throw error;
    throw new CliError(
      error,
      `#${approved.number} is approved, but the comment was not added: ${error.message}`,
      error.extra,
    );
  }
}
