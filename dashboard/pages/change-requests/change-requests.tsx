import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import type { ChangeRequest, CrStatusFilter } from "../../../src/contract/change-request.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button, LinkButton } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Form } from "../../parts/form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { BranchName } from "./branch-name.tsx";
import { Facts } from "./facts.tsx";
import { useChangeRequests } from "./queries.ts";
import { StateBadge } from "./state-badge.tsx";

const FILTERS: readonly [CrStatusFilter, string][] = [
  ["open", "Open"],
  ["merged", "Merged"],
  ["closed", "Closed"],
  ["all", "All"],
];

/** A project's change requests. The address contains the filter and the search. */
export function ChangeRequests() {
  const project = useProject();
  const [address, setAddress] = useSearchParams();
  const [status] = FILTERS.find(([each]) => each === address.get("status")) ?? ["open" as const];
  const q = address.get("q") ?? "";
  const list = useChangeRequests(project.project_id, status, q);
  const ask = (change: Record<string, string>) =>
    setAddress((before) => {
      for (const [name, value] of Object.entries(change)) {
        if (value === "") before.delete(name);
        else before.set(name, value);
      }
      return before;
    });
  return (
    <Page
      title="Change requests"
      actions={
        <LinkButton to={path`/projects/${project.slug}/change-requests/new`} look="primary">
          New change request
        </LinkButton>
      }
    >
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <fieldset className="flex rounded-md border border-edge bg-surface text-sm">
          <legend className="sr-only">Filter by status</legend>
          {FILTERS.map(([each, name]) => (
            <button
              key={each}
              type="button"
              aria-pressed={status === each}
              onClick={() => ask({ status: each === "open" ? "" : each })}
              className="px-3 py-1.5 first-of-type:rounded-l-md last-of-type:rounded-r-md hover:bg-raised aria-pressed:bg-accent aria-pressed:text-on-accent"
            >
              {name}
            </button>
          ))}
        </fieldset>
        <Search key={q} q={q} onSearch={(words) => ask({ q: words })} />
      </div>
      <p role="status" className="sr-only">
        {list.isSuccess && `${list.rows.length}${list.hasNextPage ? " and more" : ""} change requests`}
      </p>
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the change requests" />}
      {list.isSuccess && list.rows.length === 0 && <Nothing status={status} q={q} />}
      {list.rows.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {list.rows.map((cr) => (
            <Item key={cr.cr_id} cr={cr} slug={project.slug} />
          ))}
        </ul>
      )}
      <More list={list} />
    </Page>
  );
}

function Search({ q, onSearch }: { q: string; onSearch: (words: string) => void }) {
  const [words, setWords] = useState(q);
  return (
    <search className="grow sm:max-w-md">
      <Form onSubmit={() => onSearch(words.trim())} className="flex gap-2">
        <input
          type="search"
          aria-label="Search by title, branch or #number"
          placeholder="Title, branch or #number"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          className="min-w-0 grow rounded-md border border-edge bg-surface px-3 py-1.5 placeholder:text-muted"
        />
        <Button type="submit">Search</Button>
      </Form>
    </search>
  );
}

function Item({ cr, slug }: { cr: ChangeRequest; slug: string }) {
  const [word, at] =
    cr.status === "merged" && cr.merged_at
      ? ["merged", cr.merged_at]
      : cr.status === "closed" && cr.closed_at
        ? ["closed", cr.closed_at]
        : ["opened", cr.created_at];
  const who = { merged: cr.merger, closed: cr.closer, opened: cr.author }[word] ?? null;
  return (
    <li className="relative flex flex-col gap-1 px-4 py-3 hover:bg-raised">
      <div className="flex items-start gap-2">
        <span className="mt-0.5">
          <StateBadge cr={cr} />
        </span>
        <Link
          href={path`/projects/${slug}/change-requests/${cr.number}`}
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
          <BranchName>{cr.head_ref}</BranchName>
          <span className="sr-only">into</span>
          <span aria-hidden="true">→</span>
          <BranchName>{cr.base_ref}</BranchName>
        </span>
      </p>
      <Facts cr={cr} />
    </li>
  );
}

function Nothing({ status, q }: { status: CrStatusFilter; q: string }) {
  if (q !== "")
    return <Empty title="No results">No title or branch of a change request matches your search.</Empty>;
  if (status === "merged" || status === "closed") return <Empty title={`No ${status} change requests`} />;
  return (
    <Empty title="No open change requests" command='svc cr open --title "What it does" --head my-branch'>
      Push a branch, then open a change request for it. Agents do the same when their work is done.
    </Empty>
  );
}
