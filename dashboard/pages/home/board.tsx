import { Link } from "wouter";
import type { BoardSession } from "../../../src/contract/inbox.ts";
import { pageOf } from "../../api/page-of.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, type BadgeLook } from "../../parts/badge.tsx";
import { ROW_LINK } from "../../parts/row-keys.ts";
import { Visible } from "../../parts/visible.tsx";
import { useSome } from "./some.tsx";

type State = BoardSession["state"];

/** The columns, in their order. */
const COLUMNS: readonly [State, title: string, BadgeLook][] = [
  ["working", "Working", "info"],
  ["waiting", "Waiting", "warn"],
  ["review", "In review", "ok"],
  ["done", "Done", "done"],
];

/** The user's sessions by what they do. */
export function Board({ sessions }: { sessions: readonly BoardSession[] }) {
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions" className="mb-3 font-semibold text-lg">
        Your sessions
      </h2>
      <div className="grid items-start gap-4 sm:grid-cols-2 lg:grid-cols-4">
        {COLUMNS.map(([state, title, look]) => (
          <Column
            key={state}
            {...{ state, title, look }}
            sessions={sessions.filter((session) => session.state === state)}
          />
        ))}
      </div>
    </section>
  );
}

interface ColumnProps {
  state: State;
  title: string;
  look: BadgeLook;
  sessions: readonly BoardSession[];
}

function Column({ state, title, look, sessions }: ColumnProps) {
  const [shown, toggle] = useSome(sessions, title);
  const id = `sessions-${state}`;
  return (
    <div className="min-w-0 rounded-lg border border-line bg-raised p-3">
      <h3 id={id} className="mb-2 flex items-center gap-2 font-medium">
        {title} <Badge look={look}>{sessions.length}</Badge>
      </h3>
      {sessions.length === 0 && <p className="text-muted text-sm">None</p>}
      <ul aria-labelledby={id} className="flex flex-col gap-2 empty:hidden">
        {shown.map((session) => (
          <Card key={session.session_id} session={session} />
        ))}
      </ul>
      {toggle}
    </div>
  );
}

function Card({ session }: { session: BoardSession }) {
  const { title, project_slug, project_name, change_request, since } = session;
  return (
    <li className="wrap-anywhere relative rounded-md border border-line bg-surface p-3 shadow-xs hover:border-edge">
      <Link
        href={pageOf(session)}
        {...ROW_LINK}
        className="block min-h-7 font-medium text-ink no-underline after:absolute after:inset-0 after:rounded-md"
      >
        <span className="line-clamp-3">
          <Visible>{title}</Visible>
        </span>
      </Link>
      <p className="mt-1 text-muted text-sm">
        <Visible>{project_name}</Visible> · <Ago at={since} />
        {change_request !== null && (
          <>
            {" · "}
            <Link
              href={path`/projects/${project_slug}/change-requests/${change_request}`}
              className="relative inline-block min-h-6 min-w-6 text-accent underline"
            >
              #{change_request}
            </Link>
          </>
        )}
      </p>
    </li>
  );
}
