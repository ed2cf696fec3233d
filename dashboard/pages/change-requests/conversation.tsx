import { useMemo, useState } from "react";
import { Link } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Later } from "../../parts/later.tsx";
import { Failure } from "../../parts/notice.tsx";
import { stepThrough } from "../../parts/row-keys.ts";
import { Visible } from "../../parts/visible.tsx";
import { Approvals } from "./approvals.tsx";
import { Checks } from "./checks.tsx";
import { Composer } from "./composer.tsx";
import { Description } from "./description.tsx";
import { ManifestCheck } from "./manifest-check.tsx";
import { MergeBox } from "./merge-box.tsx";
import { Previews } from "./previews.tsx";
import { useAct, useTimeline, type Where } from "./queries.ts";
import { SendToSession } from "./send-to-session.tsx";
import { Stack } from "./stack.tsx";
import { ThreadView } from "./thread-view.tsx";
import type { Thread } from "./threads.ts";
import { TimelineLine } from "./timeline.tsx";
import { entriesOf, LINES_SHOWN } from "./timeline-entries.ts";

interface Props {
  where: Where;
  cr: ChangeRequest;
  threads: readonly Thread[];
  error: unknown;
}

/** The description, the comments and the review of a change request. */
export function Conversation({ where, cr, threads, error }: Props) {
  const { isPending } = useTimeline(where);
  useKeys([
    { key: "n", about: "Next thread", run: () => stepThrough("[data-thread]", 1) },
    { key: "p", about: "Previous thread", run: () => stepThrough("[data-thread]", -1) },
  ]);
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="flex min-w-0 flex-col gap-4">
        <Description where={where} cr={cr} />
        <History where={where} cr={cr} threads={threads} error={error} />
        {/* below the history, which would push it down */}
        {!isPending && (
          <Later>
            {cr.status === "open" && <ManifestCheck where={where} />}
            <MergeBox where={where} cr={cr} />
            <NewComment where={where} />
          </Later>
        )}
      </div>
      <aside aria-label="Review" className="flex flex-col gap-6">
        <Later>
          {cr.status === "open" && <Stack where={where} cr={cr} />}
          {cr.status === "open" && <Previews where={where} cr={cr} />}
          <Checks where={where} cr={cr} />
          <Approvals where={where} cr={cr} />
          <SendToSession where={where} cr={cr} threads={threads} />
        </Later>
      </aside>
    </div>
  );
}

/** The comments, and what has happened between them. */
function History({ where, cr, threads, error }: Props) {
  const [isWhole, setIsWhole] = useState(false);
  const timeline = useTimeline(where);
  const shown = isWhole ? Number.POSITIVE_INFINITY : LINES_SHOWN;
  const { entries, hidden } = useMemo(
    () => entriesOf(threads, timeline.data ?? [], shown),
    [threads, timeline.data, shown],
  );
  return (
    <section aria-label="Comments" className="flex flex-col gap-4">
      <h2 className="sr-only">Comments</h2>
      <Failure error={error} />
      <Failure error={timeline.error} />
      {hidden > 0 && <Button onClick={() => setIsWhole(true)}>Show {hidden} earlier events</Button>}
      {entries.map((entry) =>
        entry.kind === "event" ? (
          <TimelineLine key={entry.id} line={entry} number={cr.number} />
        ) : (
          <div key={entry.thread.first.comment_id} className="flex flex-col gap-1">
            <AboutLine thread={entry.thread} cr={cr} />
            <ThreadView where={where} thread={entry.thread} />
          </div>
        ),
      )}
    </section>
  );
}

/** The file or lines of a thread, with their text when it began. */
function AboutLine({ thread: { first }, cr }: { thread: Thread; cr: ChangeRequest }) {
  const { slug } = useProject();
  const { path: file, side, quote, outdated } = first;
  if (file === null) return null;
  const query = new URLSearchParams({ view: "changes", file });
  const [start, line] = outdated
    ? [first.original_start_line, first.original_line]
    : [first.start_line, first.line];
  return (
    <div className="flex flex-wrap items-center gap-x-2 rounded-md border border-line bg-raised px-3 py-1.5 text-sm">
      <Link
        href={`${path`/projects/${slug}/change-requests/${cr.number}`}?${query}`}
        className="font-mono text-accent underline"
      >
        <Visible>{file}</Visible>
        {line !== null && `:${start === null ? line : `${start}-${line}`}`}
      </Link>
      {side === "old" && <span className="text-muted">before the change</span>}
      {outdated && <Badge look="info">Outdated</Badge>}
      {quote !== null && quote !== "" && (
        <code className="mt-1 block w-full whitespace-pre-wrap font-mono">
          <Visible>{quote}</Visible>
        </code>
      )}
    </div>
  );
}

function NewComment({ where }: { where: Where }) {
  const act = useAct(where);
  return (
    <section aria-label="New comment">
      <Composer
        draft={`${where.projectId} ${where.cr} new`}
        label="Comment"
        verb="Comment"
        act={act}
        request={(body) => ({ at: "/comments", body: { body } })}
      />
    </section>
  );
}
