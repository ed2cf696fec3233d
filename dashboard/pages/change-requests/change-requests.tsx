import { GitPullRequest, Plus, SearchX } from "lucide-react";
import { Link, useSearchParams } from "wouter";
import type { ChangeRequest, CrStatusFilter } from "../../../src/contract/change-request.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { ROW_LINK } from "../../parts/row-keys.ts";
import { Segments } from "../../parts/segments.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { Visible } from "../../parts/visible.tsx";
import { BranchName, HeadBranch } from "./branch-name.tsx";
import { Facts } from "./facts.tsx";
import { LabelChip } from "./label-chip.tsx";
import { idOfChangeRequest, useChangeRequests } from "./queries.ts";
import { problemOf, SearchBox } from "./search-box.tsx";
import { labelled, searchOf, statusOf, toggle, withStatus } from "./search-query.ts";
import { StateBadge } from "./state-badge.tsx";

const FILTERS: readonly [CrStatusFilter, string][] = [
  ["open", "Open"],
  ["merged", "Merged"],
  ["closed", "Closed"],
  ["all", "All"],
];

/** The height of a row without labels, on a desk. */
const ROW_PX = 74;

/** A project's change requests. The address contains the search. */
export function ChangeRequests() {
  const project = useProject();
  const [address, setAddress] = useSearchParams();
  const q = searchOf(address);
  const status = statusOf(q);
  const list = useChangeRequests(project.project_id, q);
  const search = (text: string) =>
    setAddress((before) => {
      before.delete("status");
      before.set("q", text);
      return before;
    });
  return (
    <Page
      title="Change requests"
      actions={
        <LinkButton to={path`/projects/${project.slug}/change-requests/new`} look="primary">
          <Plus className="size-4" />
          New change request
        </LinkButton>
      }
    >
      <div className="mb-3">
        <Segments
          legend="Filter by status"
          options={FILTERS}
          value={status}
          onChange={(each) => search(withStatus(q, each))}
        />
      </div>
      <SearchBox q={q} error={list.error} onSearch={search} />
      <p role="status" className="sr-only">
        {list.isSuccess && `${list.rows.length}${list.hasNextPage ? " and more" : ""} change requests`}
      </p>
      {problemOf(list.error) === null && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Loading what="Loading the change requests" />}
      {list.isSuccess && list.rows.length === 0 && (
        <Nothing q={q} isPart={list.hasNextPage} onAll={() => search(withStatus("", "all"))} />
      )}
      {list.rows.length > 0 && (
        <VirtualList
          rows={list.rows}
          isPart={list.hasNextPage}
          keyOf={idOfChangeRequest}
          height={ROW_PX}
          onView={list.onView}
        >
          {(cr) => <Item cr={cr} slug={project.slug} onLabel={(name) => search(toggle(q, labelled(name)))} />}
        </VirtualList>
      )}
      <More list={list} isEnd />
    </Page>
  );
}

interface ItemProps {
  cr: ChangeRequest;
  slug: string;
  onLabel: (name: string) => void;
}

function Item({ cr, slug, onLabel }: ItemProps) {
  const [word, at] =
    cr.status === "merged" && cr.merged_at
      ? ["merged", cr.merged_at]
      : cr.status === "closed" && cr.closed_at
        ? ["closed", cr.closed_at]
        : ["opened", cr.created_at];
  const who = { merged: cr.merger, closed: cr.closer, opened: cr.author }[word] ?? null;
  return (
    <div className="relative flex flex-col gap-x-8 gap-y-1 px-4 py-3 lg:flex-row lg:justify-between">
      <div className="flex min-w-0 flex-col gap-1">
        <div className="flex items-start gap-2">
          <span className="mt-0.5">
            <StateBadge cr={cr} />
          </span>
          <Link
            href={path`/projects/${slug}/change-requests/${cr.number}`}
            {...ROW_LINK}
            className="min-w-0 font-semibold text-ink no-underline after:absolute after:inset-0"
          >
            <Visible>{cr.title}</Visible>
          </Link>
        </div>
        <p className="flex flex-wrap items-center gap-x-1.5 text-muted text-sm">
          <span>#{cr.number}</span>
          <span>
            {word} <Ago at={at} />{" "}
            {word === "merged" && who === null ? (
              "outside svc"
            ) : (
              <>
                by <AuthorName author={who} />
              </>
            )}
            {cr.origin_session_id && word === "opened" && (
              <>
                {" "}
                from a{" "}
                <Link
                  href={path`/projects/${slug}/sessions/${cr.origin_session_id}`}
                  className="relative z-10 text-accent underline"
                >
                  session
                </Link>
              </>
            )}
          </span>
          {cr.stale && <span className="text-warn">not up to date</span>}
          <span aria-hidden="true">·</span>
          <span className="flex min-w-0 flex-wrap items-center gap-1">
            <HeadBranch cr={cr} />
            <span className="sr-only">into</span>
            <span aria-hidden="true">→</span>
            <BranchName>{cr.base_ref}</BranchName>
          </span>
        </p>
        <Labels cr={cr} onLabel={onLabel} />
      </div>
      <Facts cr={cr} />
    </div>
  );
}

/** A click on a label searches for it, or no longer does. */
function Labels({ cr: { labels }, onLabel }: Pick<ItemProps, "cr" | "onLabel">) {
  if (labels.length === 0) return null;
  return (
    <ul aria-label="Labels" className="flex flex-wrap gap-1.5">
      {labels.map((label) => (
        <li key={label.name}>
          <button type="button" onClick={() => onLabel(label.name)} className="relative z-10">
            <LabelChip label={label} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** @param isPart there are more that have not been read */
function Nothing({ q, isPart, onAll }: { q: string; isPart: boolean; onAll: () => void }) {
  const all = <Button onClick={onAll}>Show all change requests</Button>;
  if (isPart)
    return <Empty title="No results so far">The search has not read all change requests yet.</Empty>;
  if (q === "is:merged" || q === "is:closed")
    return (
      <Empty title={`No ${statusOf(q)} change requests`} icon={GitPullRequest}>
        {all}
      </Empty>
    );
  if (q !== "" && q !== "is:open")
    return (
      <Empty title="No results" icon={SearchX}>
        <p className="mb-4">No change request matches your search.</p>
        {all}
      </Empty>
    );
  return (
    <Empty
      title="No open change requests"
      icon={GitPullRequest}
      command='svc cr open --title "What it does" --head my-branch'
    >
      Push a branch, then open a change request for it. Agents do the same when their work is done.
    </Empty>
  );
}
