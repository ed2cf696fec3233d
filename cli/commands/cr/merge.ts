import type { ChangeRequest, MergedChangeRequest } from "../../../src/contract/change-request.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { oneLine } from "../../text.ts";
import { recovery } from "./preview.ts";
import { type Found, findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const merge: Handler<typeof table.merge> = async (context, { args, flags }) => {
  const found = await findCr(context, args.cr);
  const head = flags["match-head"] ?? (await headOf(found));
  await context.out.note(`Merging the head commit ${oneLine(head)}`);
  const body = { head_commit_sha: head, ...(flags.message !== undefined && { message: flags.message }) };
  const cr = await found.api
    .call<MergedChangeRequest>({ path: `${found.path}/merge`, body, slow: true })
    .catch(async (error: unknown) => {
      throw error instanceof CliError && error.code === "merge_conflict"
        ? await explain(found, error)
        : error;
    });
  const { merge_commit_sha, fast_forward } = cr.merge;
  const how = fast_forward ? "fast-forward to" : "merge commit";
  await context.out.result(cr, (view) =>
    outcome(cr, `merged into ${oneLine(cr.base_ref)}, ${how} ${oneLine(merge_commit_sha)}`, view),
  );
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
  return new CliError(conflict, "Merge failed: the branches conflict.", { ...conflict.extra, hint });
}
