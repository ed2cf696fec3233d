import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button } from "../../parts/button.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { OnRun } from "./merge-actions.tsx";

interface Props {
  queue: NonNullable<ChangeRequest["queue"]>;
  busy: boolean;
  onRun: OnRun;
}

/** Who put the change request into the merge queue, and the result that is tested; or why it was taken out. */
export function Queue({ queue, busy, onRun }: Props) {
  if (queue.position === null)
    return (
      <p role="status" className="border-line border-t px-4 py-3 text-muted">
        It left the merge queue and was not merged. <Visible>{queue.reason ?? ""}</Visible>
        <Tested queue={queue} />
      </p>
    );
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3">
      <span>
        Queued by <AuthorName author={queue.queued_by} />.
        <Tested queue={queue} />
      </span>
      <Button
        look="quiet"
        className="ml-auto"
        busy={busy}
        onClick={() => onRun("/queue", undefined, "DELETE")}
      >
        Remove from the queue
      </Button>
    </div>
  );
}

function Tested({ queue: { tested_commit_sha: sha, checks } }: Pick<Props, "queue">) {
  if (sha === null) return null;
  return (
    <>
      {" "}
      Merged result: <code className="font-mono">{sha.slice(0, 8)}</code>
      {checks && checks.total > 0 && `, ${checks.passed} of ${checks.total} checks passed`}.
    </>
  );
}
