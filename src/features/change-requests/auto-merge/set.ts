import { autoMerges } from "../../../../db/schema/index.ts";
import type { AutoMergeBody, ChangeRequest } from "../../../contract/change-request.ts";
import { SvcError } from "../../../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { storable } from "../../../http/text.ts";
import { actorOf } from "../../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { readProtection } from "../../projects/protection.ts";
import { byOf, recordTimeline } from "../../timeline/record.ts";
import { requireAgentMerge } from "../agent-merge.ts";
import { requireDeleter } from "../delete-branch.ts";
import { chooseMethod } from "../merge-commits.ts";
import { headMoved, isDraft, lockOpen, notOpen, requireHead } from "../merge-intent.ts";
import { present } from "../present.ts";
import { refresh } from "../refresh.ts";
import { changeOf, findChangeRequest } from "../row.ts";
import { recordCrEvent } from "../webhook.ts";

/**
 * Has svc merge an open change request for the caller once its checks and approvals allow it, in the place of an earlier
 * such wish. Only those who may merge it may do so.
 * @throws not_open, draft, head_moved, branch_missing, repo_unreachable, forbidden, agent_merge_forbidden,
 *   merge_method_not_allowed, validation_failed, not_found
 */
export async function enableAutoMerge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  body: AutoMergeBody,
): Promise<ChangeRequest> {
  if (body.delete_branch) requireDeleter(caller);
  const message =
    body.message === undefined ? undefined : storable("message", body.message, DESCRIPTION_MAX_BYTES);
  const found = await findChangeRequest(deps.db, project, name);
  const { rows, listing } = await refresh(deps, project, [found]);
  const [row = found] = rows;
  if (row.status !== "open") throw notOpen(row, row.status);
  if (!listing)
    throw new SvcError(
      "repo_unreachable",
      `The repository of ${project.name} does not respond, so the merge of #${row.number} cannot be prepared. Try again in a moment.`,
    );
  await requireAgentMerge(deps, caller, project, listing);
  chooseMethod(await readProtection(deps, project, listing), body.method, message);
  const head = requireHead(row, listing, body.head_commit_sha);
  const now = deps.clock();
  const wanted = {
    headSha: head,
    method: body.method ?? null,
    message: message ?? null,
    deleteBranch: body.delete_branch ?? false,
    userId: caller.userId,
    tokenId: caller.kind === "project" ? caller.tokenId : null,
    actor: actorOf(caller),
    ...{ createdAt: now, dueAt: now, offReason: null, failures: 0 },
  };
  await deps.db.transaction(async (tx) => {
    const locked = await lockOpen(tx, row);
    if (locked.draft) throw isDraft(row);
    // another reader has seen a push
    if (locked.headCommitSha !== null && locked.headCommitSha !== head)
      throw headMoved(row, head, locked.headCommitSha);
    await tx
      .insert(autoMerges)
      .values({ crId: row.crId, ...wanted })
      .onConflictDoUpdate({ target: autoMerges.crId, set: wanted });
    const { crId } = row;
    const method = wanted.method === null ? {} : { method: wanted.method };
    await recordTimeline(tx, { by: byOf(caller), at: now }, [
      { crId, event: "auto_merge_enabled", ...method },
    ]);
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at: now }, locked);
    await publish(tx, project.projectId, changeOf(row));
  });
  return await present(deps, project, row, listing);
}
