import type { ChangeRequest, OpenChangeRequestBody } from "../../../src/contract/change-request.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { openCreated } from "../../open-page.ts";
import { ownBranch } from "../../own-branch.ts";
import type { ProjectRef } from "../../project.ts";
import { inSandbox } from "../../sandbox.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { oneLine, shellWord } from "../../text.ts";
import { readDescription } from "./description.ts";
import { namesIn } from "./names.ts";
import { noTitle, wordsOf } from "./open-words.ts";
import { outcome } from "./show-cr.ts";
import { unpushedWork } from "./unpushed-work.ts";

export const open: Handler<typeof table.open> = async (context, { flags }) => {
  const { out, system } = context;
  const given = await readDescription(context, flags);
  if (flags.template !== undefined && given !== undefined)
    throw usage("--template and --description cannot be used together.");
  if (flags.title === undefined && !flags.fill && !flags.editor && !context.canAsk()) throw noTitle();
  const project = await context.project();
  const head = flags.head ?? (await defaultHead(context, project));
  const { title, description } = await wordsOf(context, project, { ...flags, head, given });
  const body: OpenChangeRequestBody = { title, head_ref: head };
  if (description !== undefined) body.description = description;
  if (flags.base !== undefined) body.base_ref = flags.base;
  if (flags.draft) body.draft = true;
  if (flags.label.length > 0) body.labels = namesIn(flags.label);
  if (flags.assignee.length > 0) body.assignees = namesIn(flags.assignee);
  if (flags.reviewer.length > 0) body.requested_reviewers = namesIn(flags.reviewer);
  const session = flags.session ?? system.env["SVC_SESSION_ID"];
  if (session) body.session_id = session;
  const api = await context.api();
  const collection = path`/projects/${project.id}/change-requests`;
  const cr = await api.call<ChangeRequest>({ path: collection, body, slow: true }).catch((error: unknown) => {
    throw error instanceof CliError && error.code === "ref_not_found" ? notPushed(error, head) : error;
  });
  await out.result(cr, (view) =>
    outcome(
      cr,
      `opened${cr.draft ? " as a draft" : ""}, ${oneLine(cr.head_ref)} → ${oneLine(cr.base_ref)}`,
      view,
    ),
  );
  await out.note(await nextSteps(context, cr));
  if (flags.web) await openCreated(context, api, `${collection}/${cr.number}`);
};

/** People and agents are reminded of work that is not pushed, and agents that the user merges. */
async function nextSteps(context: Context, cr: ChangeRequest): Promise<string> {
  const missing = await unpushedWork(context, cr);
  if (missing.length > 0) return [`Opened #${cr.number}, but:`, ...missing].join("\n  ");
  if (!inSandbox(context.system.env))
    return `Opened #${cr.number}. Next: svc cr show ${cr.number}\n                svc cr diff ${cr.number}`;
  return `Opened #${cr.number}. Report this number to the user, who merges it. Later pushes to the branch are added to it.`;
}

/** In a session its own branch; in a clone of the project the current one, with a notice. */
async function defaultHead(context: Context, project: ProjectRef): Promise<string> {
  const branch = await ownBranch(context, project);
  if (branch === null) {
    throw usage(
      "svc cr open needs --head <ref>, the branch to merge.",
      "It has a default only in a session, and in a clone of the project that is on a branch.",
    );
  }
  if (!inSandbox(context.system.env))
    await context.out.note(`Using the current branch as --head: ${oneLine(branch)}`);
  return branch;
}

function notPushed(error: CliError, head: string): CliError {
  const hint = `Both branches must be on the git host. To push yours: git push -u origin ${shellWord(head)}`;
  return new CliError(error, error.message, { ...error.extra, hint });
}
