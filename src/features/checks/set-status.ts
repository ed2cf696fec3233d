import { and, asc, eq, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { changeRequests, commitStatuses } from "../../../db/schema/index.ts";
import {
  CONTEXTS_MAX,
  type CommitStatus,
  DEFAULT_CONTEXT,
  type SetStatusBody,
  type StatusState,
} from "../../contract/commit-status.ts";
import { SvcError } from "../../contract/errors.ts";
import type { WebhookEvent } from "../../contract/webhook-event.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { storable } from "../../http/text.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { notifyOfChangeRequest, type OwnedChangeRequest } from "../notifications/record.ts";
import { lockProject } from "../projects/lock.ts";
import { resolveRef } from "../repository/resolve.ts";
import { recordWebhookEvent } from "../webhooks/record.ts";
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

/**
 * Records the result of a check of a commit, which replaces an earlier one of the same context. Agents cannot: they would
 * pass their own work.
 * @throws forbidden, validation_failed, ref_not_found, repo_unreachable
 */
export async function setStatus(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  sha: string,
  body: SetStatusBody,
): Promise<CommitStatus> {
  requireReporter(caller);
  const values = valuesOf(body);
  const { commit } = await resolveRef(deps, project, sha);
  const { projectId } = project;
  const of = { projectId, sha: commit, context: values.context };
  const now = deps.clock();
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    await requireRoom(tx, of);
    const set = { ...values, createdBy: caller.userId, createdActor: actorOf(caller), updatedAt: now };
    const [row] = await tx
      .insert(commitStatuses)
      .values({ ...of, ...set, createdAt: now })
      .onConflictDoUpdate({
        target: [commitStatuses.projectId, commitStatuses.sha, commitStatuses.context],
        set,
      })
      .returning();
    if (!row) throw new Error("the insert of a status returned no row");
    const [status] = await toWire(tx, [row]);
    if (!status) throw new Error("a status was left out");
    const open = await openAt(tx, projectId, commit);
    const numbers = open.map(({ number }) => number);
    const event = { type: EVENTS[row.state], at: now };
    await recordWebhookEvent(tx, projectId, event, async () => ({ status, change_requests: numbers }));
    if (event.type === "check.failed") await notifyOfFailure(tx, open, row);
    const change = { type: "check", id: commit, action: "changed" } as const;
    await publish(
      tx,
      projectId,
      ...(numbers.length === 0 ? [change] : numbers.map((number) => ({ ...change, number }))),
    );
    return status;
  });
}

function requireReporter(caller: Caller): void {
  if (caller.kind === "user" || caller.sessionId === null) return;
  throw new SvcError(
    "forbidden",
    "The token of a session cannot report checks, because an agent would pass its own work. Use a project token or a personal access token.",
  );
}

function valuesOf(body: SetStatusBody) {
  const { state, context = DEFAULT_CONTEXT, description, target_url: targetUrl } = body;
  return {
    state,
    context: context.toWellFormed(),
    // the schema limits its characters
    description: description ? storable("description", description, 4 * description.length) : null,
    targetUrl: targetUrl ? linkOf(targetUrl) : null,
  };
}

/** A link that people follow; svc itself does not. */
function linkOf(text: string): string {
  const url = URL.parse(text);
  if ((url?.protocol === "https:" || url?.protocol === "http:") && url.username === "" && url.password === "")
    return url.href;
  const message = "must be an http:// or https:// URL without a user name or a password";
  throw new SvcError("validation_failed", `target_url ${message}.`, {
    details: [{ path: "target_url", message }],
  });
}

/** @param of the status to add. @throws validation_failed */
async function requireRoom(tx: Db, of: { projectId: string; sha: string; context: string }): Promise<void> {
  const { projectId, sha, context } = commitStatuses;
  const others = and(eq(projectId, of.projectId), eq(sha, of.sha), ne(context, of.context));
  if ((await tx.$count(commitStatuses, others)) < CONTEXTS_MAX) return;
  throw new SvcError(
    "validation_failed",
    `The commit has statuses of ${CONTEXTS_MAX} contexts, which is the limit. Report under one of these contexts.`,
  );
}

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
