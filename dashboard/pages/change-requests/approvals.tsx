import { FileDiff } from "lucide-react";
import { useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Failure } from "../../parts/notice.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Composer } from "./composer.tsx";
import { requestsOf } from "./merge-state.ts";
import { useAct, type Where } from "./queries.ts";

/** The approvals of a change request, the number required, requests for changes, and buttons to approve and to request them. */
export function Approvals({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const { data: signedIn } = useSignedIn();
  const act = useAct(where);
  const { approvals, required_approvals: required } = cr;
  const me = signedIn?.user?.user_id;
  const isMyOwn = cr.created_by === me;
  const counting = approvals.filter(({ counts }) => counts).length;
  const mine = approvals.find(({ user_id, counts }) => counts && user_id === me);
  const given = approvals.filter(({ state }) => state === "approved");
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
        {given.map(({ user_id, name, created_at, counts }) => (
          <li key={`${user_id} ${created_at}`} className="flex flex-wrap items-center gap-1.5 text-sm">
            <StateIcon look={counts ? "ok" : "muted"} />
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
      {requestsOf(cr).map((request) => (
        <Request
          key={request.user_id}
          where={where}
          cr={cr}
          request={request}
          isMine={request.user_id === me}
        />
      ))}
      {cr.status === "open" && isMyOwn && (
        <p className="text-muted text-sm">
          It was opened by you or for you: another user must review it, unless svc.toml sets self_approval =
          true.
        </p>
      )}
      {cr.status === "open" && (
        <Button
          busy={act.isPending}
          className="self-start"
          onClick={() =>
            act.mutate(mine ? { method: "DELETE", at: "/approve" } : { at: "/approve", body: seenHead(cr) })
          }
        >
          {mine ? "Withdraw my approval" : "Approve"}
        </Button>
      )}
      <Failure error={act.error} />
      {cr.status === "open" && <RequestChanges where={where} cr={cr} />}
    </section>
  );
}

interface RequestProps {
  where: Where;
  cr: ChangeRequest;
  request: ChangeRequest["approvals"][number];
  isMine: boolean;
}

/** What a person requests. They can withdraw it, and owners and admins can dismiss it. */
function Request({ where, cr, request, isMine }: RequestProps) {
  const act = useAct(where);
  const mayManage = useMayManage(useProject());
  const { user_id, name, body, created_at, head_commit_sha } = request;
  const at = isMine ? "/request-changes" : `/request-changes${path`/${user_id}`}`;
  return (
    <article
      aria-label={`Changes requested by ${name}`}
      className="flex flex-col gap-2 rounded-md border border-danger p-3 text-sm"
    >
      <p>
        <FileDiff className="inline-block size-[1.1em] align-[-0.15em] text-danger" />{" "}
        <Visible>{name}</Visible> requested changes{" "}
        <span className="text-muted">
          <Ago at={created_at} />
          {head_commit_sha !== cr.head_commit_sha && ", on an earlier commit"}
        </span>
      </p>
      <Markdown>{body ?? ""}</Markdown>
      {cr.status === "open" && (isMine || mayManage) && (
        <Button
          className="self-start"
          busy={act.isPending}
          onClick={() => act.mutate({ method: "DELETE", at })}
        >
          {isMine ? "Withdraw my request" : "Dismiss"}
        </Button>
      )}
      <Failure error={act.error} />
    </article>
  );
}

function RequestChanges({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const [isAsking, setIsAsking] = useState(false);
  const act = useAct(where);
  if (!isAsking)
    return (
      <Button look="quiet" className="self-start" onClick={() => setIsAsking(true)}>
        Request changes
      </Button>
    );
  return (
    <Composer
      draft={`${where.projectId} ${where.cr} request`}
      label="What has to change"
      verb="Request changes"
      act={act}
      request={(body) => ({ at: "/request-changes", body: { body, ...seenHead(cr) } })}
      onClose={() => setIsAsking(false)}
    />
  );
}

/** The commit that the page shows, not one that was pushed since. */
function seenHead({ head_commit_sha }: ChangeRequest) {
  return head_commit_sha === null ? {} : { head_commit_sha };
}
