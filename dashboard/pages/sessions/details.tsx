import type { ReactNode } from "react";
import { Link } from "wouter";
import type { ListeningPort } from "../../../src/contract/ports.ts";
import type { Session } from "../../../src/contract/session.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Badge } from "../../parts/badge.tsx";
import { spent } from "../../parts/cost.ts";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { ChangeRequests } from "./change-requests.tsx";
import { MODE_LABELS } from "./choices.tsx";
import { Preview } from "./preview.tsx";
import { branchOf } from "./words.ts";

/** Details of a session. */
export function Details({
  session,
  slug,
  ports,
}: {
  session: Session;
  slug: string;
  ports: readonly ListeningPort[];
}) {
  const used = spent(session);
  return (
    <div className="flex flex-col gap-6">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
        <Row name="Branch">
          <code className="font-mono text-xs" title={visibleText(session.branch_name)}>
            <Visible>{branchOf(session)}</Visible>
          </code>
        </Row>
        <Row name="From">
          <Visible>{session.base_ref}</Visible>
        </Row>
        {session.tries_id !== null && (
          <Row name="Tries">
            <Link href={path`/projects/${slug}/tries/${session.tries_id}`}>Compare with the others</Link>
          </Row>
        )}
        <Row name="Agent">
          <Visible>{session.agent_name ?? "the project's own"}</Visible>
        </Row>
        <Row name="Runtime">{session.runtime ?? "the project's own"}</Row>
        <Row name="Model">
          <Visible>{session.model ?? "the agent's own"}</Visible>
        </Row>
        <Row name="Mode">{MODE_LABELS[session.mode]}</Row>
        {session.effort !== null && (
          <Row name="Effort">
            <Visible>{session.effort}</Visible>
          </Row>
        )}
        {used !== null && <Row name="Used">{used}</Row>}
        <Row name="Sandbox">{session.sandbox_provider}</Row>
        {session.walls && (
          <Row name="Isolation">
            {session.walls.length > 0 ? (
              <Visible>{session.walls.map((wall) => wall.replaceAll("_", " ")).join(", ")}</Visible>
            ) : (
              <Badge look="warn">None: the agent has the permissions of the server's user</Badge>
            )}
          </Row>
        )}
        <Row name="Started by">
          <AuthorName author={session.author} />, <Ago at={session.created_at} />
        </Row>
        <Row name="Active">
          <Ago at={session.last_active_at} />
        </Row>
      </dl>
      <ChangeRequests session={session} slug={slug} />
      <Preview session={session} ports={ports} />
    </div>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
