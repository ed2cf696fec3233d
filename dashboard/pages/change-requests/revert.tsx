import { Link, useLocation } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { ApiFailure } from "../../api/failure.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Conflicts } from "./conflicts.tsx";
import { useAct, type Where } from "./queries.ts";

/** What a change request reverts and what reverts it; opens the revert of a merged one. */
export function Revert({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const { slug } = useProject();
  const [, go] = useLocation();
  const act = useAct<ChangeRequest>(where);
  const pageOf = (number: number) => path`/projects/${slug}/change-requests/${number}`;
  const linkTo = (number: number) => (
    <Link href={pageOf(number)} className="text-accent underline">
      #{number}
    </Link>
  );
  const canRevert = cr.status === "merged" && cr.reverted_by === null;
  if (cr.reverts === null && cr.reverted_by === null && !canRevert) return null;
  const conflicts = act.error instanceof ApiFailure ? act.error.list("conflicts") : [];
  return (
    <>
      <Failure error={act.error} />
      {conflicts.length > 0 && (
        <div className="px-4 pb-3">
          <Conflicts paths={conflicts} />
        </div>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-line border-t px-4 py-3 text-muted">
        {cr.reverts !== null && <span>This reverts {linkTo(cr.reverts)}.</span>}
        {cr.reverted_by !== null && <span>{linkTo(cr.reverted_by)} reverts this.</span>}
        {canRevert && (
          <Button
            busy={act.isPending}
            onClick={() => act.mutate({ at: "/revert" }, { onSuccess: ({ number }) => go(pageOf(number)) })}
          >
            Revert
          </Button>
        )}
      </div>
    </>
  );
}
