import type { ChangeRequest, MergePreview } from "../../../src/contract/change-request.ts";
import { count } from "../../text.ts";
import { checksText } from "./checks.ts";
import { requestsOf } from "./show-comments.ts";

interface Known {
  /** Null: not available, or the change request is not open. */
  preview: MergePreview | null;
  openThreads: number;
  /** An agent, which neither approves nor merges unless its project lets it. */
  isAgent: boolean;
}

/** The commands that come next for a change request, each with the reason; `svc cr merge` only if nothing prevents it. */
export function nextSteps(cr: ChangeRequest, { preview, openThreads, isAgent }: Known): string {
  const isOpen = cr.status === "open";
  const hasConflicts = preview !== null && !preview.can_merge && preview.merge_base !== null;
  const isMergeable = preview?.can_merge === true && !preview.is_up_to_date;
  const checks = isOpen ? openChecks(cr) : null;
  const approvals = isOpen ? missingApprovals(cr) : 0;
  const owners = isOpen ? (cr.code_owner_reviews?.state ?? "approved") : "approved";
  const requests = isOpen ? requestsOf(cr).length : 0;
  // in a merge queue, the checks of the merged result decide
  const isChecked = cr.merge_queue || cr.checks.required.every(({ state }) => state === "success");
  const isQueued = isOpen && cr.queue?.position != null;
  const isReviewed = approvals === 0 && requests === 0 && owners === "approved";
  const isAllowed = isReviewed && isChecked && !isQueued;
  const steps: [wanted: boolean, command: string, why: string][] = [
    [isMergeable, `svc cr diff ${cr.number}`, ""],
    [openThreads > 0, `svc cr comments ${cr.number} --open`, count(openThreads, "open thread")],
    [checks !== null, `svc cr checks ${cr.number}${isFailed(cr) ? "" : " --watch"}`, checks ?? ""],
    [hasConflicts && !isAgent, `svc cr resolve-conflicts ${cr.number}`, "its agent resolves them"],
    [approvals > 0 && !isAgent, `svc cr approve ${cr.number}`, `needs ${count(approvals, "more approval")}`],
    [
      approvals === 0 && owners === "missing" && !isAgent,
      `svc cr approve ${cr.number}`,
      "needs the approval of a code owner",
    ],
    [owners === "pending", `svc cr show ${cr.number}`, "its code owners are being read"],
    [
      requests > 0 && !isAgent,
      `svc cr send ${cr.number}`,
      `${count(requests, "reviewer")} requested changes`,
    ],
    [isOpen && cr.draft && !isAgent, `svc cr ready ${cr.number}`, "it is a draft"],
    [isQueued, "svc cr queue", `position ${cr.queue?.position} of the merge queue`],
    [isMergeable && isAllowed && !cr.draft && !isAgent, `svc cr merge ${cr.number}`, ""],
  ];
  const shown = steps.filter(([wanted]) => wanted);
  const width = Math.max(...shown.map(([, command]) => command.length));
  return shown
    .map(([, command, why]) => (why === "" ? command : `${command.padEnd(width)}  ${why}`))
    .map((line, at) => `${at === 0 ? "Next: " : "      "}${line}`)
    .join("\n");
}

/** The checks that have not passed; null if all have. */
function openChecks({ checks }: ChangeRequest): string | null {
  return checks.state === "failure" || checks.state === "pending" ? checksText(checks) : null;
}

const isFailed = ({ checks }: ChangeRequest): boolean => checks.state === "failure";

const missingApprovals = ({ approvals, required_approvals }: ChangeRequest): number =>
  Math.max(0, required_approvals - approvals.filter(({ counts }) => counts).length);
