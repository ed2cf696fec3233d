import { Link } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Session } from "../../../src/contract/session.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command } from "../../parts/command.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The number of change requests that are searched for those of the session, the newest first. */
const SEARCHED_MAX = 200;
const LOOKS = { open: "ok", merged: "done", closed: "neutral" } as const;

/** The change requests of a session. */
export function ChangeRequests({ session, slug }: { session: Session; slug: string }) {
  const { project_id, session_id, branch_name } = session;
  const { data } = useGet<{ change_requests: ChangeRequest[] }>(
    [project_id, "change_request", "of-session", session_id],
    path`/projects/${project_id}/change-requests?limit=${SEARCHED_MAX}`,
  );
  const own = (data?.change_requests ?? []).filter(
    ({ origin_session_id, head_ref }) => origin_session_id === session_id || head_ref === branch_name,
  );
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold text-sm">Change requests</h2>
      {own.length === 0 && data && (
        <>
          <p className="text-muted text-sm">None yet. To open one for the branch of the session, run:</p>
          <Command>{`svc cr open --title "What it does" --head ${branch_name}`}</Command>
        </>
      )}
      <ul className="flex flex-col gap-2">
        {own.map(({ cr_id, number, title, status }) => (
          <li key={cr_id} className="flex items-baseline justify-between gap-2 text-sm">
            <Link
              href={path`/projects/${slug}/change-requests/${number}`}
              className="min-w-0 text-accent underline"
            >
              #{number} <Visible>{title}</Visible>
            </Link>
            <Badge look={LOOKS[status]}>{status}</Badge>
          </li>
        ))}
      </ul>
    </section>
  );
}
