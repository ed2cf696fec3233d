import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button } from "../../parts/button.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { OnRun } from "./merge-actions.tsx";

interface Props {
  auto: NonNullable<ChangeRequest["auto_merge"]>;
  busy: boolean;
  onRun: OnRun;
}

/** Whether svc will merge the change request by itself, or why it will not. */
export function AutoMerge({ auto, busy, onRun }: Props) {
  if (!auto.enabled)
    return (
      <p role="status" className="border-line border-t px-4 py-3 text-muted">
        Auto-merge was turned off. <Visible>{auto.off_reason ?? ""}</Visible>
      </p>
    );
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3">
      <span>
        Auto-merge is on: <AuthorName author={auto.author} /> wants{" "}
        <code className="font-mono">{auto.head_commit_sha.slice(0, 8)}</code> to be merged once checks and
        approvals allow it.
      </span>
      <Button
        look="quiet"
        className="ml-auto"
        busy={busy}
        onClick={() => onRun("/auto-merge", undefined, "DELETE")}
      >
        Turn it off
      </Button>
    </div>
  );
}
