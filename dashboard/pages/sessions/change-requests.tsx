import { Link } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Session } from "../../../src/contract/session.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Badge } from "../../parts/badge.tsx";
import { Command } from "../../parts/command.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The number of change requests that are listed, the newest of those that came from the session, and of its branch. */
const SHOWN_MAX = 20;
const LOOKS = { open: "ok", merged: "done", closed: "neutral" } as const;

/** The change requests of a session. */
export function ChangeRequests({ session, slug }: { session: Session; slug: string }) {
  const { project_id, session_id, branch_name } = session;
  const ofSession = useFound(project_id, `session:${session_id}`);
  // a name of a branch in quotes: git allows quotes in it, but no backslash
  const ofBranch = useFound(project_id, `head:${JSON.stringify(branch_name)}`);
  const isRead = ofSession !== undefined && ofBranch !== undefined;
  const found = [...(ofSession ?? []), ...(ofBranch ?? [])];
  const own = [...new Map(found.map((cr) => [cr.cr_id, cr])).values()].sort((a, b) => b.number - a.number);
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold text-sm">Change requests</h2>
      {own.length === 0 && isRead && (
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

/** @param q a search @returns undefined until it is read */
function useFound(projectId: string, q: string): ChangeRequest[] | undefined {
  const { data } = useGet<{ change_requests: ChangeRequest[] }>(
    [projectId, "change_request", "of-session", q],
    `${path`/projects/${projectId}/change-requests`}?${new URLSearchParams({ q, limit: String(SHOWN_MAX) })}`,
  );
  return data?.change_requests;
}
