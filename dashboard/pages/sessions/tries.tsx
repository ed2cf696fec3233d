import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { OneTry, Tries } from "../../../src/contract/tries.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { spent } from "../../parts/cost.ts";
import { count } from "../../parts/count.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { StateBadge } from "../change-requests/state-badge.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { shortId, titleOf } from "./words.ts";

/** Pushes and checks are no events of a session. */
const REFETCH_MS = 15_000;

/** The sessions that try one task, side by side. One of them can be chosen. */
export function TriesPage({ params: { triesId } }: { params: { triesId: string } }) {
  const project = useProject();
  const [chosen, setChosen] = useState<OneTry | null>(null);
  const own = path`/projects/${project.project_id}/tries/${triesId}`;
  const key = [project.project_id, "session", "list", "tries", triesId];
  const { data, error, refetch } = useGet<Tries>(key, own, { refetchInterval: REFETCH_MS });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  const [first] = data?.tries ?? [];
  if (!data || !first) return <Loading />;
  return (
    <Page title={titleOf(first.session)}>
      <p className="mb-4 text-muted">
        {count(data.tries.length, "session")} work on this task. Compare what they have pushed, and choose
        one.
      </p>
      <ul className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        {data.tries.map((each) => (
          <Try
            key={each.session.session_id}
            each={each}
            slug={project.slug}
            onChoose={() => setChosen(each)}
          />
        ))}
      </ul>
      {chosen && (
        <Choose
          chosen={chosen}
          others={data.tries.length - 1}
          own={own}
          queryKey={key}
          onClose={() => setChosen(null)}
        />
      )}
    </Page>
  );
}

function Try({ each, slug, onChoose }: { each: OneTry; slug: string; onChoose: () => void }) {
  const { session, change, checks, change_request: request } = each;
  const id = shortId(session.session_id);
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <div className="flex items-center justify-between gap-2">
        <h2 className="font-medium">
          <Link href={path`/projects/${slug}/sessions/${session.session_id}`}>{`Session ${id}`}</Link>
        </h2>
        <StatusBadge session={session} />
      </div>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        <dt className="text-muted">Change</dt>
        <dd>{changeText(change)}</dd>
        <dt className="text-muted">Checks</dt>
        <dd>{checks.total === 0 ? "none" : `${checks.passed} passed, ${checks.failed} failed`}</dd>
        <dt className="text-muted">Agent</dt>
        <dd>
          <Visible>{session.runtime ?? "not started yet"}</Visible>
        </dd>
        <dt className="text-muted">Model</dt>
        <dd>
          <Visible>{session.model ?? "the agent's own"}</Visible>
        </dd>
        <dt className="text-muted">Used</dt>
        <dd>{spent(session) ?? "nothing yet"}</dd>
        {request && (
          <>
            <dt className="text-muted">Change request</dt>
            <dd className="flex items-center gap-2">
              <Link href={path`/projects/${slug}/change-requests/${String(request.number)}`}>
                {`#${request.number}`}
              </Link>
              <StateBadge cr={request} />
            </dd>
          </>
        )}
      </dl>
      <Button className="self-start" aria-label={`Choose session ${id}`} onClick={onChoose}>
        Choose
      </Button>
    </li>
  );
}

function changeText(change: OneTry["change"]): string {
  if (change === null) return "unknown";
  const { files_changed, additions, deletions } = change;
  return files_changed === 0 ? "none yet" : `+${additions} −${deletions} in ${count(files_changed, "file")}`;
}

interface ChooseProps {
  chosen: OneTry;
  others: number;
  own: string;
  queryKey: readonly unknown[];
  onClose: () => void;
}

function Choose({ chosen: { session }, others, own, queryKey, onClose }: ChooseProps) {
  const queries = useQueryClient();
  const choose = useMutation({
    mutationFn: () => call<Tries>("POST", `${own}/choose`, { body: { session_id: session.session_id } }),
    onSuccess: (tries) => {
      queries.setQueryData(queryKey, tries);
      onClose();
    },
  });
  return (
    <Confirm
      title={`Choose session ${shortId(session.session_id)}`}
      verb="Choose it"
      action={choose}
      onConfirm={() => choose.mutate()}
      onClose={onClose}
    >
      {`Its change request is opened, and ${count(others, "other session")} stopped. Their work stays on their branches.`}
    </Confirm>
  );
}
