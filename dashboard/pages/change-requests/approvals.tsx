import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useAct, type Where } from "./queries.ts";

/** The approvals of a change request, the number required, and a button to approve. */
export function Approvals({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const { data: signedIn } = useSignedIn();
  const act = useAct(where);
  const { approvals, required_approvals: required } = cr;
  const me = signedIn?.user?.user_id;
  const isMyOwn = cr.created_by === me;
  const counting = approvals.filter(({ counts }) => counts).length;
  const mine = approvals.find(({ user_id, counts }) => counts && user_id === me);
  return (
    <section aria-labelledby="approvals" className="flex flex-col gap-2">
      <h2 id="approvals" className="font-semibold">
        Approvals
      </h2>
      <p role="status" className="text-muted text-sm">
        {required > 0
          ? `${counting} of ${required} required by this project`
          : counting > 0
            ? `${counting}; this project requires none`
            : "None yet; this project requires none."}
      </p>
      <ul className="flex flex-col gap-1">
        {approvals.map(({ user_id, name, created_at, counts }) => (
          <li key={`${user_id} ${created_at}`} className="flex flex-wrap items-center gap-1.5 text-sm">
            <span aria-hidden="true" className={counts ? "text-ok" : "text-muted"}>
              {counts ? "✓" : "○"}
            </span>
            <Visible>{name}</Visible>
            <span className="text-muted">
              <Ago at={created_at} />
              {!counts &&
                (user_id === cr.created_by
                  ? ", opened for this user: does not count"
                  : ", on an earlier commit: no longer counts")}
            </span>
          </li>
        ))}
      </ul>
      {cr.status === "open" && isMyOwn && (
        <p className="text-muted text-sm">
          It was opened by you or for you: another user must approve it, unless svc.toml sets self_approval =
          true.
        </p>
      )}
      {cr.status === "open" && (
        <Button
          busy={act.isPending}
          className="self-start"
          onClick={() => act.mutate(mine ? { method: "DELETE", at: "/approve" } : approvalOf(cr))}
        >
          {mine ? "Withdraw my approval" : "Approve"}
        </Button>
      )}
      <Failure error={act.error} />
    </section>
  );
}

/** Approves the commit that the page shows, not one that was pushed since. */
function approvalOf({ head_commit_sha }: ChangeRequest) {
  return { at: "/approve", ...(head_commit_sha !== null && { body: { head_commit_sha } }) };
}
