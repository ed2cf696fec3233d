import { useState } from "react";
import type { Check, CheckLog } from "../../../src/contract/check.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Line } from "../sessions/log.tsx";
import { useAct, type Where } from "./queries.ts";

/** Polling interval of a log while its check runs. */
const POLL_MS = 2_000;
/** Maximum number of lines. The command line shows more. */
const LINES = 500;

/** What can be done with a check that svc runs: its log, and another run. */
export function OwnCheck({ where, check, isOpen }: { where: Where; check: Check; isOpen: boolean }) {
  const [isShown, setIsShown] = useState(false);
  const act = useAct<Check>(where);
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
      {isShown && <Log where={where} check={check} isActive={isActive} />}
    </div>
  );
}

function Log({ where, check, isActive }: { where: Where; check: Check; isActive: boolean }) {
  const { projectId } = where;
  const { data, error, isPending, refetch } = useGet<CheckLog>(
    [projectId, "check-log", check.check_id, check.attempt, check.state],
    `${path`/projects/${projectId}/checks/${check.check_id}/log`}?tail=${LINES}`,
    { refetchInterval: isActive ? POLL_MS : false },
  );
  return (
    <>
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the log" />}
      {data && (
        <ScrollBox
          label={`Lines of the log of ${check.name}`}
          className="max-h-[60dvh] rounded-lg border border-line bg-surface p-3 font-mono text-xs leading-5"
        >
          <ol>
            {data.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are only appended
              <Line key={index} line={line} />
            ))}
          </ol>
          {data.lines.length === 0 && <p className="text-muted">The log is empty.</p>}
        </ScrollBox>
      )}
    </>
  );
}
