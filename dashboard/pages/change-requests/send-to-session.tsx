import { Link } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { SentToSession } from "../../../src/contract/comment.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { requestsOf } from "./merge-state.ts";
import { useAct, type Where } from "./queries.ts";
import type { Thread } from "./threads.ts";

interface Props {
  where: Where;
  cr: ChangeRequest;
  threads: readonly Thread[];
}

/** Sends the requested changes and the open comments to the session that works on the branch. */
export function SendToSession({ where, cr, threads }: Props) {
  const act = useAct<SentToSession>(where);
  const open = threads.filter(({ first }) => first.resolved_at === null).length + requestsOf(cr).length;
  if (cr.status !== "open") return null;
  return (
    <section aria-labelledby="to-session" className="flex flex-col gap-2">
      <h2 id="to-session" className="font-semibold">
        The agent
      </h2>
      <p className="text-muted text-sm">
        {open === 0
          ? "No open comments or requests to send to the session."
          : `The agent works on ${open === 1 ? "the open comment or request" : `the ${open} open comments and requests`}.`}
      </p>
      <Button
        className="self-start"
        busy={act.isPending}
        disabled={open === 0}
        onClick={() => act.mutate({ at: "/send-to-session", body: {} })}
      >
        Send to the session
      </Button>
      <Failure error={act.error} />
      {act.data && <SentNotice sent={act.data} />}
    </section>
  );
}

/** Links to the session that received the request. */
export function SentNotice({ sent }: { sent: SentToSession }) {
  const { slug } = useProject();
  return (
    <Notice kind="success">
      {sent.created ? "A new session was started. " : "Sent to the session. "}
      <Link href={path`/projects/${slug}/sessions/${sent.session_id}`} className="underline">
        Open the session
      </Link>
    </Notice>
  );
}
