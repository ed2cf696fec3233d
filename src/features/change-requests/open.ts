import { eq, type SQL, sql } from "drizzle-orm";
import { changeRequests, projectSessions, projects } from "../../../db/schema/index.ts";
import type { ChangeRequest, OpenChangeRequestBody } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES, METADATA_MAX_BYTES, TITLE_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { checkBranchName } from "../../git/refs.ts";
import { storable, storableObject } from "../../http/text.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { notifyOfChangeRequest } from "../notifications/record.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";
import { byOf, recordTimeline } from "../timeline/record.ts";
import { keepHeads, recordHeads } from "./heads.ts";
import { changeLabels } from "./labels/change.ts";
import { requireNoOtherOpen } from "./other-open.ts";
import { changePeople } from "./people/change.ts";
import { recordRequests } from "./people/requested.ts";
import { present } from "./present.ts";
import { requireNoOpenRevert } from "./reverts.ts";
import { type CrRow, changeOf } from "./row.ts";
import { recordCrEvent } from "./webhook.ts";

/**
 * Opens a change request (spec 3.1, first row). Nothing is stored unless both branches exist on the remote.
 * @param reverted the merged one that it undoes
 * @throws validation_failed, invalid_ref, ref_not_found, repo_unreachable; already_open if the head has one into the
 *   base, or another one undoes the same.
 */
export async function openChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  body: OpenChangeRequestBody,
  reverted: Pick<CrRow, "crId" | "number"> | null = null,
): Promise<ChangeRequest> {
  const title = storable("title", body.title.trim(), TITLE_MAX * 4);
  const description = storable("description", body.description ?? "", DESCRIPTION_MAX_BYTES);
  const metadata = storableObject("metadata", body.metadata ?? {}, METADATA_MAX_BYTES);
  const headRef = checkBranchName(body.head_ref);
  const baseRef = checkBranchName(body.base_ref ?? project.defaultBranch);
  requireTwoBranches(headRef, baseRef);
  const listing = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  const headCommitSha = existingTip(listing.tips, headRef);
  const baseCommitSha = existingTip(listing.tips, baseRef);
  const row = await deps.db.transaction(async (tx) => {
    const [counter] = await tx
      .update(projects)
      .set({ lastChangeRequestNumber: sql`${projects.lastChangeRequestNumber} + 1` })
      .where(eq(projects.projectId, project.projectId))
      .returning({ number: projects.lastChangeRequestNumber });
    if (!counter)
      throw new SvcError("not_found", `The project ${project.name} was deleted while this request ran.`);
    // the row of the project is locked, so no other request opens one meanwhile
    await requireNoOtherOpen(deps, tx, project, { headRef, baseRef });
    if (reverted) await requireNoOpenRevert(deps, tx, project, reverted);
    const [inserted] = await tx
      .insert(changeRequests)
      .values({
        accountId: project.accountId,
        projectId: project.projectId,
        number: counter.number,
        title,
        description,
        metadata,
        baseRef,
        headRef,
        headCommitSha,
        baseCommitSha,
        draft: body.draft ?? false,
        reverts: reverted?.number ?? null,
        originSessionId: knownSession(project, body.session_id),
        createdBy: caller.userId,
        createdActor: actorOf(caller),
        openedByAgent: caller.kind === "project",
      })
      .returning();
    if (inserted) {
      await recordHeads(tx, [inserted], inserted.createdAt, "moved");
      const at = inserted.createdAt;
      const number = reverted === null ? {} : { number: reverted.number };
      await recordTimeline(tx, { by: byOf(caller), at }, [
        { crId: inserted.crId, event: "opened", from: headRef, to: baseRef, ...number },
      ]);
      await changeLabels(tx, caller, inserted, at, { labels: body.labels ?? [] });
      const { assignees = [], requested_reviewers = [] } = body;
      const asked = await changePeople(tx, caller, inserted, at, { assignees, requested_reviewers });
      await recordCrEvent(deps, tx, project, { type: "cr.opened", at }, inserted);
      await recordRequests(deps, tx, caller, project, { row: inserted, at, asked });
      const but = caller.kind === "user" ? caller.userId : null;
      await notifyOfChangeRequest(tx, inserted, { event: "cr.opened", key: inserted.crId, text: "", but });
      const original = reverted ? [changeOf(reverted)] : [];
      await publish(tx, project.projectId, changeOf(inserted, "created"), ...original);
    }
    return inserted;
  });
  if (!row) throw new Error("the insert of a change request returned no row");
  // does not delay the answer: the first fetch of a large repository takes minutes
  void keepHeads(deps, project, [row]);
  return await present(deps, project, row, listing);
}

/** @throws validation_failed */
export function requireTwoBranches(headRef: string, baseRef: string): void {
  if (headRef !== baseRef) return;
  throw new SvcError(
    "validation_failed",
    `head_ref and base_ref are the same branch, "${headRef}". Push the work to another branch.`,
  );
}

/** The commit of a branch that a request names. @throws ref_not_found */
export function existingTip(tips: ReadonlyMap<string, string>, ref: string): string {
  const commit = tips.get(ref);
  if (commit === undefined) {
    throw new SvcError(
      "ref_not_found",
      `The repository has no branch "${ref}". Push it first: git push origin HEAD`,
    );
  }
  return commit;
}

/**
 * Spec 4.1 rule 2: an unknown session is ignored. The insert selects and locks it, so that it is not deleted meanwhile.
 */
function knownSession(project: ProjectRow, wanted: string | undefined): SQL | null {
  if (!wanted || wanted.includes("\0")) return null;
  return sql`(select ${projectSessions.sessionId} from ${projectSessions}
    where ${projectSessions.sessionId} = ${wanted} and ${projectSessions.projectId} = ${project.projectId} for key share)`;
}
