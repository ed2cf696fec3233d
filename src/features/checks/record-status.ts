import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests, commitStatuses, projects } from "../../../db/schema/index.ts";
import type { CommitStatus, StatusState } from "../../contract/commit-status.ts";
import type { WebhookEvent } from "../../contract/webhook-event.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectChange } from "../../events/publish.ts";
import { notifyOfChangeRequest, type OwnedChangeRequest } from "../notifications/record.ts";
import { recordWebhookEvent } from "../webhooks/record.ts";
import { recordVerdict } from "./record-verdict.ts";
import { toWire } from "./statuses.ts";

type CheckEvent = Extract<WebhookEvent, `check.${string}`>;

const EVENTS: Readonly<Record<StatusState, CheckEvent>> = {
  pending: "check.pending",
  success: "check.succeeded",
  failure: "check.failed",
  error: "check.failed",
};

/** Open change requests of one head commit that an event names. */
const NAMED_MAX = 20;

type StatusRow = typeof commitStatuses.$inferSelect;

/**
 * Records the status of a commit's context, which replaces an earlier one: a check run that of another run of its name. One
 * that is not from the git host will be reported to it.
 * @param tx has the project locked
 * @returns the status, and the changes to publish as the last statement of the transaction
 */
export async function recordStatus(
  deps: Pick<Deps, "clock">,
  tx: Db,
  of: Pick<StatusRow, "projectId" | "sha" | "context" | "checkRunId">,
  values: Pick<StatusRow, "state" | "description" | "targetUrl" | "fromHost" | "createdBy" | "createdActor">,
): Promise<{ status: CommitStatus; changes: ProjectChange[] }> {
  const now = deps.clock();
  const reportDueAt = values.fromHost ? null : dueIfHosted(of.projectId, now);
  const set = { ...values, checkRunId: of.checkRunId, reportDueAt, reportFailures: 0, updatedAt: now };
  const [replaced] = await tx.update(commitStatuses).set(set).where(isOf(of)).returning();
  const [added] = replaced
    ? []
    : await tx
        .insert(commitStatuses)
        .values({ ...of, ...set, createdAt: now })
        .returning();
  const row = replaced ?? added;
  if (!row) throw new Error("the insert of a status returned no row");
  const [status] = await toWire(tx, [row]);
  if (!status) throw new Error("a status was left out");
  const open = await openAt(tx, of.projectId, of.sha);
  const numbers = open.map(({ number }) => number);
  const event = { type: EVENTS[row.state], at: now };
  await recordWebhookEvent(tx, of.projectId, event, async () => ({ status, change_requests: numbers }));
  if (event.type === "check.failed") await notifyOfFailure(tx, open, row);
  await recordVerdict(tx, open, row, now);
  return { status, changes: changesFor(of.sha, numbers) };
}

/** The status of a context, or its check run: a commit has up to one of each. */
export function isOf(of: Pick<StatusRow, "projectId" | "sha" | "context" | "checkRunId">) {
  const { projectId, sha, context, checkRunId } = commitStatuses;
  return and(
    eq(projectId, of.projectId),
    eq(sha, of.sha),
    eq(context, of.context),
    of.checkRunId === null ? isNull(checkRunId) : isNotNull(checkRunId),
  );
}

/** The changes to publish when a check of a commit has new details only, such as annotations. */
export async function detailsChanged(tx: Db, projectId: string, sha: string): Promise<ProjectChange[]> {
  return changesFor(
    sha,
    (await openAt(tx, projectId, sha)).map(({ number }) => number),
  );
}

function changesFor(sha: string, numbers: readonly number[]): ProjectChange[] {
  const change = { type: "check", id: sha, action: "changed" } as const;
  return numbers.length === 0 ? [change] : numbers.map((number) => ({ ...change, number }));
}

/** @returns an expression that is null when svc hosts the repository */
const dueIfHosted = (projectId: string, at: Date) =>
  sql<Date | null>`(select ${at.toISOString()}::timestamptz from ${projects}
    where ${projects.projectId} = ${projectId} and ${projects.repoUrl} is not null)`;

async function openAt(tx: Db, projectId: string, sha: string) {
  return await tx
    .select()
    .from(changeRequests)
    .where(
      and(
        eq(changeRequests.projectId, projectId),
        eq(changeRequests.status, "open"),
        eq(changeRequests.headCommitSha, sha),
      ),
    )
    .orderBy(asc(changeRequests.number))
    .limit(NAMED_MAX);
}

/** Once for a commit of a change request, however many of its checks fail. */
async function notifyOfFailure(
  tx: Db,
  open: readonly OwnedChangeRequest[],
  { sha, context, description }: typeof commitStatuses.$inferSelect,
): Promise<void> {
  const text = description ? `${context}: ${description}` : context;
  for (const cr of open)
    await notifyOfChangeRequest(tx, cr, { event: "check.failed", key: `${cr.crId} ${sha}`, text, but: null });
}
