import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequestApprovals, changeRequests } from "../../../db/schema/index.ts";
import type { ChangeRequest } from "../../contract/change-request.ts";
import type { RequestChangesBody } from "../../contract/change-request-review.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import { REVIEW_MAX_BYTES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import type { Branches } from "../../git/git.ts";
import { storable } from "../../http/text.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { notifyOfChangeRequest } from "../notifications/record.ts";
import { readProtection } from "../projects/protection.ts";
import { requireHead } from "./merge-intent.ts";
import { answerRequest } from "./people/change.ts";
import { present } from "./present.ts";
import { refresh } from "./refresh.ts";
import { type CrRow, findChangeRequest } from "./row.ts";
import { recordCrEvent } from "./webhook.ts";

/**
 * Approves the head commit of an open change request, in the place of an earlier request for changes by the same person. A
 * later push needs a new approval.
 * @param seen the head commit that was reviewed; another one is not approved
 * @throws forbidden, not_open, head_moved, branch_missing, repo_unreachable, not_found
 */
export async function approveChangeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  seen: string | undefined,
): Promise<ChangeRequest> {
  return await review(deps, caller, project, name, { state: "approved", body: null, seen });
}

/**
 * Requests changes on an open change request, in the place of an earlier approval by the same person. It blocks the merge,
 * also of later commits, until the person approves or withdraws the request, or an owner or admin dismisses it.
 * @throws validation_failed, and what `approveChangeRequest` throws
 */
export async function requestChanges(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { body, head_commit_sha: seen }: RequestChangesBody,
): Promise<ChangeRequest> {
  const text = storable("body", body, REVIEW_MAX_BYTES);
  return await review(deps, caller, project, name, { state: "changes_requested", body: text, seen });
}

/** Withdraws the caller's approval, if there is one. A merge that has already recorded its intent continues. */
export async function withdrawApproval(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
): Promise<ChangeRequest> {
  requirePerson(caller);
  return await remove(deps, project, name, caller.userId, "approved");
}

/**
 * Removes a person's request for changes, if there is one: they withdraw it, or an owner or admin dismisses it.
 * @throws forbidden, not_open, not_found
 */
export async function removeRequest(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  userId: string,
): Promise<ChangeRequest> {
  requirePerson(caller);
  if (!UUID.test(userId))
    throw new SvcError("validation_failed", "The id of the person whose request to dismiss must be a UUID.");
  return await remove(deps, project, name, userId.toLowerCase(), "changes_requested");
}

type Review = Pick<typeof changeRequestApprovals.$inferSelect, "state" | "body">;

/** @param seen the head commit that was reviewed */
async function review(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { seen, ...given }: Review & { seen: string | undefined },
): Promise<ChangeRequest> {
  requirePerson(caller);
  const found = await findChangeRequest(deps.db, project, name);
  const { rows, listing } = await refresh(deps, project, [found]);
  const [row = found] = rows;
  if (row.status !== "open") throw notOpen(row, row.status);
  if (!listing)
    throw new SvcError(
      "repo_unreachable",
      `The repository of ${project.name} does not respond, so #${row.number} cannot be reviewed now. Try again in a moment.`,
    );
  await requireOther(deps, caller, project, row, listing);
  const head = requireHead(row, listing, seen);
  const event = given.state === "approved" ? "cr.approved" : "cr.changes_requested";
  const approval = { ...given, headCommitSha: head, createdAt: deps.clock() };
  await deps.db.transaction(async (tx) => {
    const status = await lock(tx, row);
    if (status !== "open") throw notOpen(row, status);
    await tx
      .insert(changeRequestApprovals)
      .values({ crId: row.crId, userId: caller.userId, ...approval })
      .onConflictDoUpdate({
        target: [changeRequestApprovals.crId, changeRequestApprovals.userId],
        set: approval,
      });
    await answerRequest(tx, row, caller);
    await recordCrEvent(deps, tx, project, { type: event, at: approval.createdAt }, row);
    await notifyOfChangeRequest(tx, row, {
      ...{ event, text: given.body ?? "", but: caller.userId },
      key: `${row.crId} ${caller.userId} ${head}`,
    });
    await publish(tx, project.projectId, changeOf(row, "created"));
  });
  return await present(deps, project, row, listing);
}

async function remove(
  deps: Deps,
  project: ProjectRow,
  name: string,
  userId: string,
  state: Review["state"],
): Promise<ChangeRequest> {
  const row = await findChangeRequest(deps.db, project, name);
  await deps.db.transaction(async (tx) => {
    const status = await lock(tx, row);
    if (status !== "open") throw notOpen(row, status);
    const [gone] = await tx
      .delete(changeRequestApprovals)
      .where(
        and(
          eq(changeRequestApprovals.crId, row.crId),
          eq(changeRequestApprovals.userId, userId),
          eq(changeRequestApprovals.state, state),
        ),
      )
      .returning({ crId: changeRequestApprovals.crId });
    if (!gone) return;
    await recordCrEvent(deps, tx, project, { type: "cr.updated", at: deps.clock() }, row);
    await publish(tx, project.projectId, changeOf(row, "deleted"));
  });
  return await present(deps, project, row, null);
}

/** Enforces `[change_requests] self_approval`. @throws forbidden, repo_unreachable */
async function requireOther(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { createdBy, openedByAgent }: CrRow,
  listing: Branches,
): Promise<void> {
  if (createdBy !== caller.userId || (await readProtection(deps, project, listing)).selfApproval) return;
  const opened = openedByAgent
    ? "An agent opened this change request on your behalf"
    : "You opened this change request";
  throw new SvcError(
    "forbidden",
    `${opened}, so another person must review it. If the project has no other reviewer, set self_approval = true under [change_requests] in ${project.manifestPath}.`,
  );
}

function requirePerson(caller: Caller): void {
  if (caller.kind === "user") return;
  throw new SvcError(
    "forbidden",
    "Only people approve change requests or request changes; the token of an agent or script cannot. Ask a person to run: svc cr approve",
  );
}

/** Serializes the approvals and merges of a change request. */
async function lock(tx: Db, { crId }: CrRow): Promise<string> {
  const [row] = await tx
    .select({ status: changeRequests.status })
    .from(changeRequests)
    .where(eq(changeRequests.crId, crId))
    .for("update");
  return row?.status ?? "deleted";
}

function notOpen({ number }: CrRow, status: string): SvcError {
  return new SvcError(
    "not_open",
    `Change request #${number} is ${status}. Only an open change request can be reviewed.`,
  );
}

function changeOf({ crId, number }: CrRow, action: ProjectChange["action"]): ProjectChange {
  return { type: "approval", id: crId, number, action };
}
