import type { ChangeRequest, MergePreview } from "../../../src/contract/change-request.ts";
import { Button } from "../../parts/button.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { OnRun } from "./merge-actions.tsx";

interface Props {
  cr: ChangeRequest;
  preview: MergePreview | undefined;
  busy: boolean;
  onRun: OnRun;
}

/** Merges the base into a head branch that lacks commits of it, and does not conflict with it. */
export function UpdateBranch({ cr, preview, busy, onRun }: Props) {
  if (cr.status !== "open" || !preview?.can_merge || preview.merge_base === preview.base_sha) return null;
  const { head_sha: head_commit_sha, base_sha: base_commit_sha } = preview;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-t px-4 py-3 text-muted">
      <span className="min-w-0 grow">
        The branch does not have the newest commits of <Visible>{cr.base_ref}</Visible>.
      </span>
      <Button busy={busy} onClick={() => onRun("/update-branch", { head_commit_sha, base_commit_sha })}>
        Update branch
      </Button>
    </div>
  );
}
