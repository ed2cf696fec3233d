import type { ChangeRequest, MergePreview } from "../../../src/contract/change-request.ts";
import type { ChangeRequestStack, Stacked } from "../../../src/contract/change-request-stack.ts";
import { byAuthor } from "../../author-text.ts";
import { CliError } from "../../failure.ts";
import { openDashboard } from "../../open-page.ts";
import type { View } from "../../output.ts";
import { inSandbox } from "../../sandbox.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-read.ts";
import { ago, sheet } from "../../table-print.ts";
import { lines, oneLine } from "../../text.ts";
import { previewsOf, previewsText } from "./apps.ts";
import { checksText } from "./checks.ts";
import { codeOwnersText } from "./code-owners.ts";
import { nextSteps } from "./next-steps.ts";
import { previewText } from "./preview.ts";
import { queueText } from "./queue.ts";
import { type Found, findCr, readCr } from "./reference.ts";
import { approvalsText, requestsOf } from "./show-comments.ts";
import { stateOf, statusPaint } from "./show-cr.ts";
import { manifestOf, manifestText } from "./show-manifest.ts";

export const show: Handler<typeof table.show> = async (context, { args, flags }) => {
  const found = await findCr(context, args.cr);
  if (flags.web) return openDashboard(context, found.api, found.path);
  const cr = await readCr(found);
  const [preview, manifest, stack, apps] = await Promise.all([
    cr.status === "open" ? previewOf(found) : null,
    cr.status === "open" ? manifestOf(found) : null,
    cr.status === "open" ? stackOf(found) : [],
    cr.status === "open" ? previewsOf(found) : [],
  ]);
  const open_comments = cr.open_threads;
  const merge_preview = preview && "failed" in preview ? null : preview;
  await context.out.result(
    { ...cr, merge_preview, manifest, open_comments, stack, apps },
    (view) =>
      page(cr, preview, view) +
      stackText(stack, view) +
      previewsText(apps, view) +
      manifestText(manifest, view.paint),
  );
  const isAgent = inSandbox(context.system.env);
  const next = nextSteps(cr, { preview: merge_preview, openThreads: open_comments, isAgent });
  if (next !== "") await context.out.note(next);
};

type Preview = MergePreview | { failed: string } | null;

/** A preview that is not available (a deleted branch, a host that does not respond) is not a failure. */
async function previewOf(found: Found): Promise<Preview> {
  try {
    return await found.api.call<MergePreview>({ path: `${found.path}/merge-preview`, slow: true });
  } catch (error) {
    if (error instanceof CliError) return { failed: error.message };
    throw error;
  }
}

async function stackOf({ api, path }: Found): Promise<Stacked[]> {
  return (await api.call<ChangeRequestStack>({ path: `${path}/stack` })).stack;
}

/** The highest first, as on the page. */
function stackText(stack: readonly Stacked[], { paint }: View): string {
  if (stack.length === 0) return "";
  const rows = stack.toReversed().map(({ number, title, draft, level }) => {
    const text = `#${number} ${oneLine(title)}${draft ? " (draft)" : ""}`;
    return level === 0 ? `  ${paint.bold(text)} (this one)\n` : `  ${text}\n`;
  });
  return `\n${paint.bold("Stack")}:\n${rows.join("")}`;
}

function page(cr: ChangeRequest, preview: Preview, view: View): string {
  const { paint } = view;
  const time = (value: string | null) => value && (view.tty ? ago(value, view.now) : value);
  const title = view.tty
    ? `${paint.bold(`#${cr.number} ${oneLine(cr.title)}`)}\n${statusPaint(paint, stateOf(cr))(oneLine(stateOf(cr)))}  ${oneLine(cr.head_ref)} → ${oneLine(cr.base_ref)}\n\n`
    : "";
  const facts = sheet(
    [
      ...(view.tty
        ? []
        : ([
            ["number", String(cr.number)],
            ["title", cr.title],
            ["status", stateOf(cr)],
            ["head", cr.head_ref],
            ["base", cr.base_ref],
          ] as const)),
      ["id", cr.cr_id],
      ["opened", `${time(cr.created_at)}${byAuthor(cr.author)}`],
      ["merged", cr.merged_at && `${time(cr.merged_at)}${byAuthor(cr.merger) || " outside svc"}`],
      ["closed", cr.closed_at && `${time(cr.closed_at)}${byAuthor(cr.closer)}`],
      ["head commit", cr.head_commit_sha],
      ["base commit", cr.base_commit_sha],
      ["stale", cr.stale ? STALE : null],
      ["merge commit", cr.merge_commit_sha],
      ["merge method", cr.merge_method],
      ["reverts", cr.reverts === null ? null : `#${cr.reverts}`],
      ["reverted by", cr.reverted_by === null ? null : `#${cr.reverted_by}`],
      ["session", cr.origin_session_id],
      ["labels", namesOf(cr.labels)],
      ["assigned to", namesOf(cr.assignees)],
      ["review requested", namesOf(cr.requested_reviewers)],
      ["approvals", approvalsOf(cr)],
      ["code owners", codeOwnersText(cr)],
      ["checks", checksText(cr.checks)],
      ["auto-merge", autoMergeOf(cr)],
      ["merge queue", queueText(cr)],
      ["open comments", cr.open_threads > 0 ? String(cr.open_threads) : null],
    ],
    view,
  );
  const description = cr.description.trim() === "" ? "" : `\n${lines(cr.description).trimEnd()}\n`;
  return `${title}${facts}${description}${requestsText(cr, view)}${previewLine(cr, preview, view)}`;
}

const STALE =
  "the repository did not respond, or no longer has one of the branches; the commits are the last known ones";

const namesOf = (named: readonly { name: string }[]): string | null =>
  named.map(({ name }) => name).join(", ") || null;

/** Null if there are none and none are required. */
function approvalsOf(cr: ChangeRequest): string | null {
  if (cr.required_approvals === 0 && cr.approvals.length === 0) return null;
  const by = cr.approvals.filter(({ counts }) => counts).map(({ name }) => name);
  return `${approvalsText(cr)}${by.length > 0 ? `: ${by.join(", ")}` : ""}`;
}

function autoMergeOf({ auto_merge: auto }: ChangeRequest): string | null {
  if (auto === null) return null;
  if (!auto.enabled) return `off. ${oneLine(auto.off_reason ?? "")}`;
  const how = auto.method === null ? "" : `, ${auto.method}`;
  return `on, for ${auto.head_commit_sha.slice(0, 10)}${how}${byAuthor(auto.author)}`;
}

function requestsText(cr: ChangeRequest, { paint }: View): string {
  return requestsOf(cr)
    .map(({ name, body }) => {
      const text = lines(body ?? "")
        .trimEnd()
        .split("\n");
      return `\n${paint.bold(`Changes requested by ${oneLine(name)}`)}:\n${text.map((line) => `  ${line}\n`).join("")}`;
    })
    .join("");
}

function previewLine(cr: ChangeRequest, preview: Preview, { paint }: View): string {
  if (preview === null) return "";
  const label = paint.bold("Merge preview");
  if ("failed" in preview) return `\n${label}: not available. ${oneLine(preview.failed)}\n`;
  return `\n${label}: ${previewText(cr, preview, paint)}`;
}
