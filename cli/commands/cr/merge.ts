import type {
  AutoMergeBody,
  ChangeRequest,
  MergedChangeRequest,
  QueuedChangeRequest,
} from "../../../src/contract/change-request.ts";
import { MERGE_METHODS, type MergeMethod } from "../../../src/contract/merge-method.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-merge.ts";
import { oneLine } from "../../text.ts";
import { recovery } from "./preview.ts";
import { followQueue } from "./queue.ts";
import { type Found, findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const merge: Handler<typeof table.merge> = async (context, { args, flags }) => {
  const [method, ...others] = MERGE_METHODS.filter((each) => flags[each]);
  if (others.length > 0) throw usage("Only one of --merge, --squash, --rebase and --ff-only can be used.");
  if (flags["disable-auto"]) {
    const others = method ?? flags.message ?? flags["match-head"];
    if (others !== undefined || flags.auto || flags["delete-branch"] || flags.watch)
      throw usage("--disable-auto cannot be used with other flags of a merge.");
    return await disableAuto(context, await findCr(context, args.cr));
  }
  if (flags.auto && flags.watch)
    throw usage("--watch cannot be used with --auto: it waits for the merge queue.");
  const found = await findCr(context, args.cr);
  await confirmDefault(context, found);
  const head = flags["match-head"] ?? (await headOf(found));
  if (!flags.auto) await context.out.note(`Merging the head commit ${oneLine(head)}`);
  const body = {
    head_commit_sha: head,
    ...(method && { method }),
    ...(flags.message !== undefined && { message: flags.message }),
    ...(flags["delete-branch"] && { delete_branch: true }),
  };
  await (flags.auto ? enableAuto(context, found, body) : mergeNow(context, found, body, flags.watch));
};

async function disableAuto({ out }: Context, { api, path }: Found): Promise<void> {
  const cr = await api.call<ChangeRequest>({ method: "DELETE", path: `${path}/auto-merge` });
  await out.result(cr, (view) => outcome(cr, "auto-merge is off", view));
}

async function enableAuto({ out }: Context, { api, path }: Found, body: AutoMergeBody): Promise<void> {
  const call = { method: "PUT", path: `${path}/auto-merge`, body, slow: true } as const;
  const cr = await api.call<ChangeRequest>(call);
  const head = oneLine(body.head_commit_sha).slice(0, 10);
  await out.result(cr, (view) =>
    outcome(cr, `${head} will be merged once its checks and approvals allow it`, view),
  );
  await out.note(
    `To see whether it is: svc cr show ${cr.number}. To turn it off: svc cr merge ${cr.number} --disable-auto`,
  );
}

async function mergeNow(context: Context, found: Found, body: AutoMergeBody, watch: boolean): Promise<void> {
  const { out } = context;
  const cr = await found.api
    .call<MergedChangeRequest | QueuedChangeRequest>({ path: `${found.path}/merge`, body, slow: true })
    .catch(async (error: unknown) => {
      throw error instanceof CliError && error.code === "merge_conflict"
        ? await explain(found, error)
        : error;
    });
  if (!cr.merge) return await showQueued(context, found, cr, watch);
  const { merge_commit_sha, fast_forward } = cr.merge;
  const how = fast_forward ? "fast-forward to" : HOW[cr.merge_method ?? "merge"];
  await out.result(cr, (view) =>
    outcome(cr, `merged into ${oneLine(cr.base_ref)}, ${how} ${oneLine(merge_commit_sha)}`, view),
  );
  if (cr.head_branch?.deleted) await out.note(`Deleted the branch ${oneLine(cr.head_ref)}`);
  if (cr.head_branch?.deleted === false)
    await out.warn(`The branch was not deleted. ${oneLine(cr.head_branch.reason ?? "")}`);
}

async function showQueued(
  context: Context,
  found: Found,
  queued: ChangeRequest,
  watch: boolean,
): Promise<void> {
  const { out } = context;
  if (watch) {
    const cr = await followQueue(context, found, queued);
    const commit = oneLine(cr.merge_commit_sha ?? "");
    return await out.result(cr, (view) =>
      outcome(cr, `merged into ${oneLine(cr.base_ref)}, tested as ${commit}`, view),
    );
  }
  const { number, base_ref, queue } = queued;
  // it may have landed already
  const place = queue?.position == null ? "" : ` at position ${queue.position}`;
  await out.result(queued, (view) =>
    outcome(queued, `queued${place} to be merged into ${oneLine(base_ref)}`, view),
  );
  await out.note(
    `To wait until it is merged: svc cr merge ${number} --watch. To remove it: svc cr dequeue ${number}`,
  );
}

/** A person who named no change request confirms the one of the current branch. */
async function confirmDefault(context: Context, { ofBranch }: Found): Promise<void> {
  if (ofBranch === undefined || !context.canAsk()) return;
  const { number, title, base_ref } = ofBranch;
  const { confirm } = await import("../../prompt.ts");
  if (!(await confirm(`Merge #${number} ${title} into ${base_ref}?`)))
    throw new CliError("cancelled", "Cancelled; nothing was merged.");
}

const HOW: Readonly<Record<MergeMethod, string>> = {
  merge: "merge commit",
  squash: "squashed as",
  rebase: "rebased to",
  "ff-only": "fast-forward to",
};

/** The current head commit: later pushes are not merged. */
async function headOf({ api, path }: Found): Promise<string> {
  const { change_request: cr } = await api.call<{ change_request: ChangeRequest }>({ path });
  if (cr.head_commit_sha !== null) return cr.head_commit_sha;
  throw new CliError("branch_missing", `Cannot merge: the branch ${oneLine(cr.head_ref)} no longer exists.`);
}

/** The server's conflict error, with a hint how to resolve it. */
async function explain(found: Found, conflict: CliError): Promise<CliError> {
  const hint = await found.api
    .call<{ change_request: ChangeRequest }>({ path: found.path })
    .then(({ change_request }) => recovery(change_request).trimEnd())
    .catch(() => "`svc cr show` lists the steps to resolve them.");
  const { commit } = conflict.extra;
  const sentence =
    commit === undefined
      ? "Merge failed: the branches conflict."
      : `Merge failed: the commit ${oneLine(commit)} conflicts when it is rebased. Another method, such as --merge or --squash, may have no conflict.`;
  return new CliError(conflict, sentence, { ...conflict.extra, hint });
}
