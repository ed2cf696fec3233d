import { Check, Clock, GitMerge, TriangleAlert } from "lucide-react";
import { useRef } from "react";
import type { ChangeRequest, HeadBranch } from "../../../src/contract/change-request.ts";
import { ApiFailure } from "../../api/failure.ts";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { AutoMerge } from "./auto-merge.tsx";
import { Conflicts } from "./conflicts.tsx";
import { Facts } from "./facts.tsx";
import { MergeActions } from "./merge-actions.tsx";
import { mergeStateOf } from "./merge-state.ts";
import { MissingOwners } from "./missing-owners.tsx";
import { type Act, useAct, usePreview, type Where } from "./queries.ts";
import { Queue } from "./queue.tsx";
import { ResolveConflicts } from "./resolve-conflicts.tsx";
import { Revert } from "./revert.tsx";
import { UpdateBranch } from "./update-branch.tsx";

const LOOKS = {
  good: ["border-ok", "bg-ok text-surface", Check],
  wait: ["border-edge", "bg-edge text-surface", Clock],
  bad: ["border-danger", "bg-danger text-surface", TriangleAlert],
  done: ["border-done", "bg-done text-surface", GitMerge],
} as const;

/** Shows whether a change request can be merged; merges, closes and reopens it. Updates when its branches change. */
export function MergeBox({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const preview = usePreview(where, cr.status === "open");
  const state = mergeStateOf(cr, preview.data, preview.error);
  const [edge, mark, Sign] = LOOKS[state.look];
  const result = useRef<HTMLHeadingElement>(null);
  const act = useAct<{ head_branch?: HeadBranch }>(where);
  const run = (at: string, body?: unknown, method?: Act["method"]) =>
    act.mutate(
      { at, ...(body !== undefined && { body }), ...(method && { method }) },
      // the pressed button was removed: move the focus to the result
      { onSuccess: () => result.current?.focus() },
    );
  const isMoved = act.error instanceof ApiFailure && act.error.code === "base_moved";
  return (
    <section aria-labelledby="merge" className={`rounded-lg border-2 bg-surface ${edge}`}>
      <div className="flex items-start gap-3 p-4">
        <span
          aria-hidden="true"
          className={`flex size-8 shrink-0 items-center justify-center rounded-full ${mark}`}
        >
          <Sign className="size-4.5" />
        </span>
        <div className="flex min-w-0 grow flex-col gap-2">
          <div role="status">
            <h2 id="merge" ref={result} tabIndex={-1} className="font-semibold outline-none">
              <Visible>{state.title}</Visible>
            </h2>
            <div className="text-muted">{state.note}</div>
            {state.missing.length > 0 && <MissingOwners missing={state.missing} />}
            {state.conflicts.length > 0 && <Conflicts paths={state.conflicts} />}
          </div>
          <Facts cr={cr} />
        </div>
      </div>
      {state.isConflict && <ResolveConflicts where={where} />}
      <Failure error={act.error} {...(isMoved && { retry: () => run("/merge", act.variables?.body) })} />
      {act.data?.head_branch?.deleted === false && (
        <Notice kind="warning">
          It was merged, but its branch was not deleted.{" "}
          <Visible>{act.data.head_branch.reason ?? ""}</Visible>
        </Notice>
      )}
      {cr.auto_merge && <AutoMerge auto={cr.auto_merge} busy={act.isPending} onRun={run} />}
      <Revert where={where} cr={cr} />
      {cr.queue && <Queue queue={cr.queue} busy={act.isPending} onRun={run} />}
      <UpdateBranch cr={cr} preview={preview.data} busy={act.isPending} onRun={run} />
      <MergeActions cr={cr} state={state} busy={act.isPending} onRun={run} />
    </section>
  );
}
