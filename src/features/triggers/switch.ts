import type { ChangeRequest } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { setTriggerEnabled } from "../../contract/manifest/set-trigger-enabled.ts";
import type { Switched } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { mergeChangeRequest } from "../change-requests/merge.ts";
import { proposeManifest } from "../change-requests/propose-manifest.ts";
import { getChangeRequest } from "../change-requests/read.ts";

/**
 * Enables or disables a trigger in the manifest of the default branch, through a change request (contract: Manifest):
 * it creates a branch with that one value changed, opens a change request, and merges it for a user token. If the merge
 * is refused (approvals, a protected branch), the change request stays open.
 * @throws not_found, and the errors of opening a change request
 */
export function switchTrigger(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  enabled: boolean,
): Promise<Switched> {
  // a concurrent call for the same trigger finds the change request of the first
  const key = `${project.mirrorId} trigger ${slug}`;
  return deps.mutex.run(key, () => switchLocked(deps, caller, project, { slug, enabled }));
}

async function switchLocked(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { slug, enabled }: { slug: string; enabled: boolean },
): Promise<Switched> {
  const cr = await proposeManifest(deps, caller, project, {
    branch: `svc/${enabled ? "enable" : "disable"}-${slug}`,
    title: `${enabled ? "Enable" : "Disable"} trigger ${slug}`,
    description: `Sets \`enabled = ${enabled}\` of the trigger \`${slug}\` in ${project.manifestPath}.`,
    edit: (text) => text && setTriggerEnabled(text, slug, enabled),
    fault: new SvcError(
      "not_found",
      `${project.manifestPath} on the branch "${project.defaultBranch}" has no valid trigger "${slug}". Check it with: svc validate`,
    ),
  });
  if (cr === null) return { slug, enabled, status: "unchanged", reason: null, change_request: null };
  if (caller.kind === "project") {
    const reason = `A user must merge it: svc cr merge ${cr.number}`;
    return { slug, enabled, status: "open", reason, change_request: cr };
  }
  return { slug, enabled, ...(await merge(deps, caller, project, cr)) };
}

const QUEUED = "It is in the merge queue, and is merged once the checks of the merged result pass.";

/** Merges the change request. If that is refused, it stays open, and the result has the reason. */
async function merge(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  cr: ChangeRequest,
): Promise<Pick<Switched, "status" | "reason" | "change_request">> {
  try {
    const { merge: done, ...merged } = await mergeChangeRequest(deps, caller, project, cr.cr_id, {});
    if (!done) return { status: "open", reason: QUEUED, change_request: merged };
    return { status: "merged", reason: null, change_request: merged };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { change_request: now } = await getChangeRequest(deps, project, cr.cr_id);
    // merged by a concurrent call
    if (now.status === "merged") return { status: "merged", reason: null, change_request: now };
    return { status: "open", reason: error.message, change_request: now };
  }
}
