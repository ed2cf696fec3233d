import type { SentToSession } from "../../../src/contract/comment.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { useAct, type Where } from "./queries.ts";
import { SentNotice } from "./send-to-session.tsx";

/** Sends the conflicting files to the session of the branch, or starts a session for them. */
export function ResolveConflicts({ where }: { where: Where }) {
  const act = useAct<SentToSession>(where);
  return (
    <div className="flex flex-col items-start gap-2 px-4 pb-4 sm:pl-15">
      <Button busy={act.isPending} onClick={() => act.mutate({ at: "/resolve-conflicts" })}>
        Resolve in the session
      </Button>
      <Failure error={act.error} />
      {act.data && <SentNotice sent={act.data} />}
    </div>
  );
}
