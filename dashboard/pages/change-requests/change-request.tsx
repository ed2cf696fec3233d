import { useMemo, useState } from "react";
import { Link, useParams, useSearch } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { lazyPage } from "../../layout/lazy-page.tsx";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { spent } from "../../parts/cost.ts";
import { useKeys } from "../../parts/keys.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Tab } from "../../parts/tab.tsx";
import { Belonging } from "./belonging.tsx";
import { BranchName, HeadBranch } from "./branch-name.tsx";
import { ChangeBase } from "./change-base.tsx";
import { Conversation } from "./conversation.tsx";
import { EditTitle } from "./edit-title.tsx";
import { useChangeRequest, useComments, type Where } from "./queries.ts";
import { StateBadge } from "./state-badge.tsx";
import { SuggestionBatch } from "./suggestion-batch.tsx";
import { threadsOf } from "./threads.ts";

const Changes = lazyPage(async () => (await import("./diff/changes.tsx")).Changes);
const Commits = lazyPage(async () => (await import("./commits.tsx")).Commits);
const Turns = lazyPage(async () => (await import("./turns.tsx")).Turns);

/** The tabs of a change request: the query parameter `view`. */
const VIEWS = ["conversation", "commits", "changes", "turns"] as const;

/** A change request: its conversation, commits and changes. */
export function ChangeRequestPage() {
  const project = useProject();
  const { cr = "" } = useParams<{ cr: string }>();
  const where = { projectId: project.project_id, cr };
  const { data, error, refetch } = useChangeRequest(where);
  if (error && !data) {
    return (
      <Page title="Change request">
        <Failure
          error={error}
          retry={() => void refetch()}
          also={
            <LinkButton to={path`/projects/${project.slug}/change-requests?status=all`}>
              All change requests
            </LinkButton>
          }
        />
      </Page>
    );
  }
  if (!data) return <Loading what="Loading the change request" />;
  return <Shown where={where} cr={data} slug={project.slug} />;
}

function Shown({ where, cr, slug }: { where: Where; cr: ChangeRequest; slug: string }) {
  const [isEditing, setIsEditing] = useState(false);
  const [isMoving, setIsMoving] = useState(false);
  useKeys([{ key: "e", about: "Edit the title", run: () => setIsEditing(true) }]);
  const wanted = new URLSearchParams(useSearch()).get("view");
  const view = VIEWS.find((each) => each === wanted) ?? "conversation";
  const comments = useComments(where);
  const threads = useMemo(() => threadsOf(comments.data ?? []), [comments.data]);
  const here = path`/projects/${slug}/change-requests/${cr.number}`;
  return (
    <Page
      title={`${cr.title} #${cr.number}`}
      badge={<StateBadge cr={cr} />}
      actions={
        <>
          {cr.status === "open" && <Button onClick={() => setIsMoving(true)}>Change base</Button>}
          <Button onClick={() => setIsEditing(true)}>Edit title</Button>
        </>
      }
    >
      {isEditing && <EditTitle where={where} cr={cr} onClose={() => setIsEditing(false)} />}
      {isMoving && <ChangeBase where={where} cr={cr} onClose={() => setIsMoving(false)} />}
      <Summary cr={cr} slug={slug} />
      <Belonging where={where} cr={cr} />
      {cr.stale && (
        <div className="mt-3">
          <Notice kind="warning">
            Not up to date: the repository did not answer, or one of the branches no longer exists. The
            commits are the last ones that svc fetched.
          </Notice>
        </div>
      )}
      <nav aria-label="Change request" className="mt-4 mb-4 border-line border-b">
        <ul className="flex gap-1 overflow-x-auto">
          <Tab to={here} isHere={view === "conversation"} count={threads.length}>
            Conversation
          </Tab>
          <Tab to={`${here}?view=commits`} isHere={view === "commits"}>
            Commits
          </Tab>
          <Tab to={`${here}?view=changes`} isHere={view === "changes"}>
            Changes
          </Tab>
          {cr.origin_session_id !== null && (
            <Tab to={`${here}?view=turns`} isHere={view === "turns"}>
              Session
            </Tab>
          )}
        </ul>
      </nav>
      <SuggestionBatch where={where} cr={cr} threads={threads}>
        {view === "commits" && <Commits where={where} />}
        {view === "turns" && <Turns where={where} cr={cr} />}
        {view === "changes" && <Changes where={where} cr={cr} threads={threads} />}
        {view === "conversation" && (
          <Conversation where={where} cr={cr} threads={threads} error={comments.error} />
        )}
      </SuggestionBatch>
    </Page>
  );
}

/** Author, branches, time and session of a change request. */
function Summary({ cr, slug }: { cr: ChangeRequest; slug: string }) {
  const used = spent(cr);
  return (
    <p className="flex flex-wrap items-center gap-x-1.5 gap-y-1 text-muted">
      <span>
        {cr.status === "merged" ? (
          cr.merger === null ? (
            "Merged outside svc:"
          ) : (
            <>
              <AuthorName author={cr.merger} /> merged
            </>
          )
        ) : (
          <>
            <AuthorName author={cr.author} /> wants to merge
          </>
        )}
      </span>
      <HeadBranch cr={cr} />
      <span>into</span>
      <BranchName>{cr.base_ref}</BranchName>
      <span aria-hidden="true">·</span>
      <span>
        {cr.merged_at ? (
          <>
            merged <Ago at={cr.merged_at} />
          </>
        ) : cr.closed_at ? (
          <>
            closed <Ago at={cr.closed_at} /> by <AuthorName author={cr.closer} />
          </>
        ) : (
          <>
            opened <Ago at={cr.created_at} />
          </>
        )}
      </span>
      {cr.origin_session_id && (
        <span>
          from{" "}
          <Link
            href={path`/projects/${slug}/sessions/${cr.origin_session_id}`}
            className="text-accent underline"
          >
            an agent session
          </Link>
          {used !== null && ` that has used ${used}`}
        </span>
      )}
    </p>
  );
}
