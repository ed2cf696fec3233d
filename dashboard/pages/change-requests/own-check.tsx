import { useState } from "react";
import type { Check } from "../../../src/contract/check.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { LOG_LINES, PolledLog } from "../sessions/polled-log.tsx";
import { useAct, type Where } from "./queries.ts";

/** Polling interval of a log while its check runs. */
const POLL_MS = 2_000;

/** What can be done with a check that svc runs: its log, and another run. */
export function OwnCheck({ where, check, isOpen }: { where: Where; check: Check; isOpen: boolean }) {
  const [isShown, setIsShown] = useState(false);
  const act = useAct<Check>(where);
  const { projectId } = where;
  const { name, state } = check;
  const isActive = state === "queued" || state === "running";
  return (
    <div className="ml-5 flex flex-col gap-2">
      <span className="flex gap-2">
        <Button aria-expanded={isShown} aria-label={`Log of ${name}`} onClick={() => setIsShown(!isShown)}>
          Log
        </Button>
        {isOpen && !isActive && (
          <Button
            busy={act.isPending}
            aria-label={`Run ${name} again`}
            onClick={() => act.mutate({ at: "/checks/rerun", body: { name } })}
          >
            Run again
          </Button>
        )}
      </span>
      <Failure error={act.error} />
      {isShown && (
        <PolledLog
          queryKey={[projectId, "check-log", check.check_id, check.attempt, state]}
          at={`${path`/projects/${projectId}/checks/${check.check_id}/log`}?tail=${LOG_LINES}`}
          label={`Lines of the log of ${name}`}
          every={isActive && POLL_MS}
        />
      )}
    </div>
  );
}
