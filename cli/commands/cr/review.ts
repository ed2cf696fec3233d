import type { ReviewBody, SubmittedReview } from "../../../src/contract/change-request-review.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { approvedText } from "./approve.ts";
import { bodyOf } from "./comment.ts";
import { findCr, readCr } from "./reference.ts";
import { REQUESTED } from "./request-changes.ts";
import { outcome } from "./show-cr.ts";

export const review: Handler<typeof table.review> = async (context, { args, flags }) => {
  const { approve, comment, "request-changes": request, comments: file } = flags;
  if ([approve, comment, request].filter(Boolean).length !== 1) {
    throw usage(
      "svc cr review needs one of --approve, --comment and --request-changes.",
      "--body <text> adds the text to each of them.",
    );
  }
  const hasText = flags.body !== undefined || flags["body-file"] !== undefined;
  if (comment && !hasText && file === undefined)
    throw usage("The comment has no text: pass --body, --body-file or --comments.");
  if (request && !hasText) throw usage("Say what has to change: pass --body or --body-file.");
  if (flags["body-file"] === "-" && file === "-")
    throw usage("Only one of --body-file and --comments can read standard input.");
  const body = hasText ? await bodyOf(context, undefined, flags) : undefined;
  const comments = file === undefined ? undefined : await readComments(context, file);
  const found = await findCr(context, args.cr);
  const { head_commit_sha: head } = await readCr(found);
  const wanted: ReviewBody = {
    event: approve ? "APPROVE" : request ? "REQUEST_CHANGES" : "COMMENT",
    ...(body !== undefined && { body }),
    ...(head !== null && { commit_id: head }),
    ...(comments && { comments }),
  };
  const submitted = await found.api.call<SubmittedReview>({
    ...{ method: "POST", path: `${found.path}/reviews`, body: wanted, slow: true },
  });
  const { change_request: cr, comments: added } = submitted;
  const summary = added.find((each) => each.path === null) ?? null;
  const onLines = added.length - (summary === null ? 0 : 1);
  const sentence = [
    approve && approvedText(cr),
    request && REQUESTED,
    summary && `commented, ${summary.comment_id}`,
    onLines > 0 && `${onLines} ${onLines === 1 ? "comment" : "comments"} on its files`,
  ]
    .filter(Boolean)
    .join("; ");
  await context.out.result({ ...cr, comment: summary, comments: added }, (view) =>
    outcome(cr, sentence, view),
  );
};

/** The server validates what the array has. @throws CliError `usage`, `file` */
async function readComments(context: Context, file: string): Promise<ReviewBody["comments"]> {
  const text = await readText(context, file, "--comments");
  try {
    const comments: unknown = JSON.parse(text);
    if (Array.isArray(comments)) return comments;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw usage(
    `--comments: ${file === "-" ? "the input" : file} is not a JSON array.`,
    'It lists comments: [{"path": "login.ts", "line": 12, "body": "Why?"}]',
  );
}
