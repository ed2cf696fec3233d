import { and, eq, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { checks, commitStatuses } from "../../../db/schema/index.ts";
import {
  CONTEXTS_MAX,
  type CommitStatus,
  DEFAULT_CONTEXT,
  type SetStatusBody,
} from "../../contract/commit-status.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { shorten, storable } from "../../http/text.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { lockProject } from "../projects/lock.ts";
import { resolveRef } from "../repository/resolve.ts";
import { linkOf } from "./describe.ts";
import { recordStatus } from "./record-status.ts";

/**
 * Records the result of a check of a commit, which replaces an earlier one of the same context. Agents cannot: they would
 * pass their own work. Those that svc runs itself cannot be reported.
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
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    await requireRoom(tx, of);
    await requireReported(tx, of);
    const { status, changes } = await recordStatus(deps, tx, of, {
      ...values,
      fromHost: false,
      createdBy: caller.userId,
      createdActor: actorOf(caller),
    });
    await publish(tx, projectId, ...changes);
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
    targetUrl: targetUrl ? requireLink(targetUrl) : null,
  };
}

/** @throws validation_failed */
function requireLink(text: string): string {
  const link = linkOf(text);
  if (link !== null) return link;
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

/** @throws forbidden when svc itself runs the check on this commit */
async function requireReported(
  tx: Db,
  of: { projectId: string; sha: string; context: string },
): Promise<void> {
  const { projectId, sha, name } = checks;
  const own = and(eq(projectId, of.projectId), eq(sha, of.sha), eq(name, of.context));
  if ((await tx.$count(checks, own)) === 0) return;
  throw new SvcError(
    "forbidden",
    `svc runs the check "${shorten(of.context)}" on this commit itself, so its result cannot be reported. Report under another name.`,
  );
}
