import type { ChangeRequest, OpenChangeRequestBody } from "../../../src/contract/change-request.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { currentBranch } from "../../git-branch.ts";
import type { ProjectRef } from "../../project.ts";
import { inSandbox } from "../../sandbox.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { oneLine, shellWord } from "../../text.ts";
import { readDescription } from "./description.ts";
import { outcome } from "./show-cr.ts";
import { unpushedWork } from "./unpushed-work.ts";

export const open: Handler<typeof table.open> = async (context, { flags }) => {
  const { out, system } = context;
  const description = await readDescription(context, flags);
  const project = await context.project();
  const head = flags.head ?? (await defaultHead(context, project));
  const body: OpenChangeRequestBody = { title: flags.title, head_ref: head };
  if (description !== undefined) body.description = description;
  if (flags.base !== undefined) body.base_ref = flags.base;
  const session = flags.session ?? system.env["SVC_SESSION_ID"];
  if (session) body.session_id = session;
  const api = await context.api();
  const cr = await api
    .call<ChangeRequest>({ path: path`/projects/${project.id}/change-requests`, body, slow: true })
    .catch((error: unknown) => {
      throw error instanceof CliError && error.code === "ref_not_found" ? notPushed(error, head) : error;
    });
  await out.result(cr, (view) =>
    outcome(cr, `opened, ${oneLine(cr.head_ref)} → ${oneLine(cr.base_ref)}`, view),
  );
  await out.note(await nextSteps(context, cr));
};

/** An agent is reminded of work that is not pushed, and that the user merges. */
async function nextSteps(context: Context, cr: ChangeRequest): Promise<string> {
  if (!inSandbox(context.system.env))
    return `Opened #${cr.number}. Next: svc cr show ${cr.number}\n                svc cr diff ${cr.number}`;
  const missing = await unpushedWork(context, cr);
  if (missing.length > 0) return [`Opened #${cr.number}, but:`, ...missing].join("\n  ");
  return `Opened #${cr.number}. Report this number to the user, who merges it. Later pushes to the branch are added to it.`;
}

/** In a session its own branch; in a linked checkout the current one, with a notice. */
async function defaultHead(context: Context, project: ProjectRef): Promise<string> {
  const { env, cwd } = context.system;
  const ofSession = env["SVC_BRANCH_NAME"] || env["SVC_HEAD_REF"];
  if (ofSession) return ofSession;
  const branch = project.source === "link" ? await currentBranch(cwd) : null;
  if (branch === null) {
    throw usage(
      "svc cr open needs --head <ref>, the branch to merge.",
      "It has a default only in a session, and in a linked checkout that is on a branch.",
    );
  }
  await context.out.note(`Using the current branch as --head: ${oneLine(branch)}`);
  return branch;
}

function notPushed(error: CliError, head: string): CliError {
  const hint = `Both branches must be on the git host. To push yours: git push -u origin ${shellWord(head)}`;
  return new CliError(error, error.message, { ...error.extra, hint });
}
