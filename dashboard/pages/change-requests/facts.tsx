import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { count } from "../../parts/count.ts";
import { StateIcon } from "../../parts/state-icon.tsx";

const COLOURS = { ok: "text-ok", danger: "text-danger", muted: "text-muted" } as const;
type Fact = [look: keyof typeof COLOURS, text: string];

/** What a merge of an open change request depends on, in a few words; nothing if there is nothing to say. */
export function Facts({ cr }: { cr: ChangeRequest }) {
  const facts =
    cr.status === "open"
      ? [...conflictsOf(cr), ...checksOf(cr), ...approvalsOf(cr), ...ownersOf(cr), ...threadsOf(cr)]
      : [];
  if (facts.length === 0) return null;
  return (
    <ul aria-label="State" className="flex flex-wrap gap-x-4 text-sm">
      {facts.map(([look, text]) => (
        <li key={text} className={`flex items-center gap-1 ${COLOURS[look]}`}>
          <StateIcon look={look} />
          {text}
        </li>
      ))}
    </ul>
  );
}

function conflictsOf({ mergeable }: ChangeRequest): Fact[] {
  return mergeable === false ? [["danger", "Conflicts"]] : [];
}

function checksOf({ checks: { state, total, passed, failed, required } }: ChangeRequest): Fact[] {
  const all = total + required.filter((check) => check.state === null).length;
  if (state === "none") return [];
  if (state === "failure") return [["danger", `${failed} of ${count(all, "check")} failed`]];
  if (state === "success") return [["ok", `${count(all, "check")} passed`]];
  return [["muted", `${passed} of ${count(all, "check")} passed`]];
}

function approvalsOf({ approvals, required_approvals: required }: ChangeRequest): Fact[] {
  if (approvals.some(({ state }) => state === "changes_requested")) return [["danger", "changes requested"]];
  const counting = approvals.filter(({ counts }) => counts).length;
  if (required > 0)
    return [[counting >= required ? "ok" : "muted", `${counting} of ${count(required, "approval")}`]];
  return counting > 0 ? [["ok", count(counting, "approval")]] : [];
}

function ownersOf({ code_owner_reviews: reviews }: ChangeRequest): Fact[] {
  return reviews?.state === "missing" ? [["muted", "waits for code owners"]] : [];
}

function threadsOf({ open_threads: threads }: ChangeRequest): Fact[] {
  return threads > 0 ? [["muted", count(threads, "open thread")]] : [];
}
