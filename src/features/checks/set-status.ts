import { type CommitStatus, DEFAULT_CONTEXT, type SetStatusBody } from "../../contract/commit-status.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { storable } from "../../http/text.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { lockProject } from "../projects/lock.ts";
import { resolveRef } from "../repository/resolve.ts";
import { recordStatus } from "./record-status.ts";
import { requireLink, requireReportable, requireReporter } from "./reportable.ts";

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
  const of = { projectId, sha: commit, context: values.context, checkRunId: null };
  return await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    await requireReportable(tx, of);
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

function valuesOf(body: SetStatusBody) {
  const { state, context = DEFAULT_CONTEXT, description, target_url: targetUrl } = body;
  return {
    state,
    context: context.toWellFormed(),
    // the schema limits its characters
    description: description ? storable("description", description, 4 * description.length) : null,
    targetUrl: targetUrl ? requireLink("target_url", targetUrl) : null,
  };
}
