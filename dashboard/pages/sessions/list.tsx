import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Session } from "../../../src/contract/session.ts";
import { useList } from "../../api/list.ts";
import { useNames } from "../../api/members.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { count } from "../../parts/count.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { ROW_LINK } from "../../parts/row-keys.ts";
import { Segments } from "../../parts/segments.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { Visible } from "../../parts/visible.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { branchOf, titleOf } from "./words.ts";

const FILTERS = [
  ["", "All"],
  ["running", "Running"],
  ["provisioning", "Starting"],
  ["stopped", "Stopped"],
  ["failed", "Failed"],
] as const;

/** The height of a row on a desk. */
const ROW_PX = 68;

const idOf = ({ session_id }: Session) => session_id;

/** The sessions of a project, the most recently changed first. */
export function Sessions() {
  const project = useProject();
  const names = useNames(project.account_id);
  const [status, setStatus] = useState("");
  const own = path`/projects/${project.project_id}/sessions`;
  const list = useList<Session>(
    [project.project_id, "session", "list", status],
    status === "" ? own : `${own}?status=${status}`,
    "sessions",
    { idOf },
  );
  const begin = path`/projects/${project.slug}/sessions/new`;
  return (
    <Page
      title="Sessions"
      actions={
        <LinkButton to={begin} look="primary">
          <Plus className="size-4" />
          New session
        </LinkButton>
      }
    >
      <div className="mb-4">
        <Segments legend="Filter by status" options={FILTERS} value={status} onChange={setStatus} />
      </div>
      <p role="status" className="sr-only">
        {list.isSuccess && `${list.rows.length}${list.hasNextPage ? " and more" : ""} sessions`}
      </p>
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the sessions" />}
      {list.isSuccess && list.rows.length === 0 && (
        <None status={status} slug={project.slug} onAll={() => setStatus("")} />
      )}
      {list.rows.length > 0 && (
        <VirtualList
          rows={list.rows}
          isPart={list.hasNextPage}
          keyOf={idOf}
          height={ROW_PX}
          onView={list.onView}
        >
          {(session) => (
            <Row
              session={session}
              slug={project.slug}
              who={names.get(session.created_by) ?? "unknown user"}
            />
          )}
        </VirtualList>
      )}
      <More list={list} isEnd />
    </Page>
  );
}

function None({ status, slug, onAll }: { status: string; slug: string; onAll: () => void }) {
  if (status !== "")
    return (
      <Empty title="No sessions with this status" icon={Bot}>
        <Button onClick={onAll}>Show all sessions</Button>
      </Empty>
    );
  return (
    <Empty
      title="No sessions yet"
      icon={Bot}
      command={`svc sessions new --project ${slug} --prompt "Fix the login page on phones"`}
    >
      In a session an agent works on its own branch. Start one here, or from a terminal:
    </Empty>
  );
}

function Row({ session, slug, who }: { session: Session; slug: string; who: string }) {
  const { saved } = session;
  return (
    <div className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3">
      <div className="min-w-0 grow basis-72">
        <h2 className="font-medium">
          <Link
            href={path`/projects/${slug}/sessions/${session.session_id}`}
            {...ROW_LINK}
            className="text-ink no-underline after:absolute after:inset-0"
          >
            <Visible>{titleOf(session)}</Visible>
          </Link>
        </h2>
        <p className="text-muted text-sm">
          <code className="font-mono text-xs">
            <Visible>{branchOf(session)}</Visible>
          </code>{" "}
          from <Visible>{session.base_ref}</Visible>
          {session.agent_name !== null && (
            <>
              {" · "}
              <Visible>{session.agent_name}</Visible>
            </>
          )}
        </p>
      </div>
      {saved && !saved.live && (
        <Badge look="warn">
          {saved.files === null ? "Saved work" : `Saved work: ${count(saved.files, "file")}`}
        </Badge>
      )}
      {session.walls?.length === 0 && <Badge look="warn">No isolation</Badge>}
      <StatusBadge session={session} />
      <p className="basis-40 text-muted text-sm sm:text-right">
        <Ago at={session.last_active_at} /> by <Visible>{who}</Visible>
      </p>
    </div>
  );
}
