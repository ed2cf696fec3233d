import { useEffect, useRef } from "react";
import { Link, useSearch } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { ChangeRequestTurn } from "../../../src/contract/change-request-turns.ts";
import { DAEMON_MARK } from "../../../src/contract/conversation.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Plan } from "../sessions/chat/asked.tsx";
import { useTurns, type Where } from "./queries.ts";

/** How a change request came about: the plan of its session, and its turns with the files that they changed. */
export function Turns({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const list = useTurns(where);
  const { slug } = useProject();
  const wanted = Number(new URLSearchParams(useSearch()).get("turn"));
  const sessionId = cr.origin_session_id;
  const turns = list.rows.filter(({ prompt }) => !prompt.startsWith(DAEMON_MARK));
  return (
    <section aria-label="Session" className="flex flex-col gap-4">
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the turns" />}
      {list.isSuccess && turns.length === 0 && (
        <p className="py-8 text-center text-muted">
          No session's conversation is known for this change request.
        </p>
      )}
      {list.plan && list.plan.length > 0 && <Plan plan={list.plan} />}
      {turns.length > 0 && sessionId !== null && (
        <>
          <Link href={path`/projects/${slug}/sessions/${sessionId}`} className="w-fit text-accent underline">
            Read the whole conversation
          </Link>
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {turns.map((turn) => (
              <Row key={turn.turn_id} turn={turn} isWanted={turn.number === wanted} />
            ))}
          </ul>
        </>
      )}
      <More list={list} />
    </section>
  );
}

function Row({ turn, isWanted }: { turn: ChangeRequestTurn; isWanted: boolean }) {
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isWanted) place.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  const files = [...new Set(turn.edits.map((edit) => edit.path))];
  return (
    <li
      ref={place}
      aria-current={isWanted ? "true" : undefined}
      className={`flex flex-col gap-1 px-4 py-3 ${isWanted ? "bg-info-ground" : ""}`}
    >
      <p className="whitespace-pre-wrap">
        <Visible>{turn.prompt}</Visible>
      </p>
      <p className="text-muted text-sm">
        {turn.number}.{" "}
        {turn.author && (
          <>
            <AuthorName author={turn.author} />,{" "}
          </>
        )}
        <Ago at={turn.started_at} />
      </p>
      {files.map((file) => (
        <code key={file} className="text-sm">
          <Visible>{file}</Visible>
        </code>
      ))}
      {turn.cut && <p className="text-muted text-sm">It changed more than is listed here.</p>}
    </li>
  );
}
