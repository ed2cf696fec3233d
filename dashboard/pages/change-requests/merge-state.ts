import type { ChangeRequest, MergePreview } from "../../../src/contract/change-request.ts";
import type { MissingReview } from "../../../src/contract/code-owners.ts";
import { ApiFailure, messageOf } from "../../api/failure.ts";

export interface MergeState {
  look: "good" | "wait" | "bad" | "done";
  title: string;
  /** An explanation, and what to do next. */
  note: string;
  canMerge: boolean;
  /** It cannot be merged yet, but once others have approved it or checks have passed. */
  canWait: boolean;
  /** It is in the merge queue. */
  isQueued: boolean;
  isFastForward: boolean;
  /** The branches conflict; `conflicts` may still be empty. */
  isConflict: boolean;
  conflicts: readonly string[];
  /** The files that wait for a code owner. */
  missing: readonly MissingReview[];
}

const NOTHING = {
  ...{ canMerge: false, canWait: false, isQueued: false },
  ...{ isFastForward: false, isConflict: false, conflicts: [], missing: [] },
};

/** Describes the result that a merge of a change request would have. */
export function mergeStateOf(
  cr: ChangeRequest,
  preview: MergePreview | undefined,
  error: unknown,
): MergeState {
  const { base_ref: base, head_ref: head } = cr;
  if (cr.status === "merged") {
    const method = cr.merge_method === null ? "" : ` Method: ${cr.merge_method}.`;
    const note = `Merge commit: ${cr.merge_commit_sha?.slice(0, 8) ?? "on the base branch"}.${method}`;
    return { ...NOTHING, look: "done", title: `Merged into ${base}`, note };
  }
  if (cr.status === "closed") {
    const note = "Reopen it to continue.";
    return { ...NOTHING, look: "wait", title: "Closed without merging", note };
  }
  if (cr.queue?.position != null) {
    const title = `In the merge queue of ${base}, at position ${cr.queue.position}`;
    const note =
      cr.queue.state === "testing"
        ? `It is merged once the required checks of the merged result have passed.`
        : "The merged result is tested when its turn comes.";
    return { ...NOTHING, look: "wait", title, note, isQueued: true };
  }
  if (error) return { ...NOTHING, look: "bad", ...failed(error) };
  if (!preview) return { ...NOTHING, look: "wait", title: "Checking whether it can be merged", note: "" };
  if (preview.is_up_to_date) {
    const note = `${base} already contains every commit of ${head}. Push to ${head}, or close this change request.`;
    return { ...NOTHING, look: "wait", title: "There is nothing to merge", note };
  }
  if (preview.merge_base === null) {
    const note = `${head} and ${base} have no commit in common. Rebase the work onto ${base}, and push it again.`;
    return { ...NOTHING, look: "bad", title: "The histories are unrelated", note };
  }
  if (!preview.can_merge) {
    const { conflicts } = preview;
    const title = `It conflicts with ${base}`;
    const note =
      conflicts.length === 0
        ? `Merge ${base} into ${head}, resolve the conflicts, and push.`
        : `Both branches changed the same lines of ${conflicts.length === 1 ? "this file" : `these ${conflicts.length} files`}. Merge ${base} into ${head}, resolve the conflicts, and push:`;
    return { ...NOTHING, look: "bad", title, note, isConflict: true, conflicts };
  }
  const missing = missingApprovals(cr);
  if (cr.draft) {
    const note = "It can be merged when it is marked as ready.";
    return { ...NOTHING, look: "wait", title: "It is a draft", note };
  }
  const isFastForward = preview.can_fast_forward;
  const requests = requestsOf(cr);
  if (requests.length > 0) {
    const title = `Changes were requested by ${requests.map(({ name }) => name).join(", ")}`;
    const note =
      "It can be merged once they approve it or withdraw the request, or an owner or admin dismisses it.";
    return { ...NOTHING, look: "bad", title, note, isFastForward, canWait: true };
  }
  if (missing > 0) return { ...NOTHING, ...approvalsState(cr, missing), isFastForward };
  const owners = cr.code_owner_reviews?.state ?? "approved";
  if (owners !== "approved") return { ...NOTHING, ...ownersState(cr), isFastForward };
  const open = cr.checks.required.filter(({ state }) => state !== "success");
  if (cr.merge_queue) {
    const note = `No conflicts with ${base}. The merge queue tests the merged result before ${base} moves.`;
    return { ...NOTHING, look: "good", title: "It can be queued", note, canMerge: true, isFastForward };
  }
  if (open.length > 0) return { ...NOTHING, ...checksState(open), isFastForward };
  const note = isFastForward
    ? `A fast-forward: ${base} has not moved since ${head} was created.`
    : `No conflicts with ${base}.`;
  return { ...NOTHING, look: "good", title: "It can be merged", note, canMerge: true, isFastForward };
}

/** The requests for changes, which block the merge. */
export function requestsOf({ approvals = [] }: Pick<ChangeRequest, "approvals">): ChangeRequest["approvals"] {
  return approvals.filter(({ state }) => state === "changes_requested");
}

function approvalsState(cr: ChangeRequest, missing: number) {
  return {
    look: "wait",
    title: `It needs ${missing === 1 ? "one more approval" : `${missing} more approvals`}`,
    note: `This project requires ${cr.required_approvals} before a merge. Approvals by agents and on earlier commits do not count.`,
    canWait: true,
    missing: missingOwners(cr),
  } as const;
}

function checksState(open: ChangeRequest["checks"]["required"]) {
  const isFailed = open.some(({ state }) => state === "failure" || state === "error");
  return {
    look: isFailed ? "bad" : "wait",
    title: isFailed ? "A required check has failed" : "It waits for required checks",
    note: `This project requires that ${open.length === 1 ? "this check passes" : "these checks pass"} on the last commit: ${open.map(({ context }) => context).join(", ")}.`,
    canWait: true,
  } as const;
}

const missingOwners = ({ code_owner_reviews: reviews }: ChangeRequest): readonly MissingReview[] =>
  reviews?.missing ?? [];

function ownersState(cr: ChangeRequest) {
  const isRead = cr.code_owner_reviews?.state === "missing";
  return {
    look: "wait",
    title: isRead ? "It needs the approval of code owners" : "Reading who owns the changed files",
    note: "This project requires that a code owner of each changed file approves the last commit.",
    canWait: true,
    missing: missingOwners(cr),
  } as const;
}

function missingApprovals({ approvals = [], required_approvals: required = 0 }: ChangeRequest): number {
  return Math.max(0, required - approvals.filter(({ counts }) => counts).length);
}

function failed(error: unknown): { title: string; note: string } {
  const code = error instanceof ApiFailure ? error.code : "";
  const title = code === "branch_missing" ? "A branch is missing" : "Cannot check whether it can be merged";
  return { title, note: messageOf(error) };
}
