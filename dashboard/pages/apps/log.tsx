import type { AppLogs, Deployment } from "../../../src/contract/app.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Line } from "../sessions/log.tsx";

/** Polling interval while a deployment is building or running. */
const POLL_MS = 3_000;
/** Maximum number of lines. The command line shows more. */
const LINES = 500;

/** The end of a deployment's log. */
export function AppLog({ at, deployment }: { at: string; deployment: Deployment }) {
  const project = useProject();
  const { number, state } = deployment;
  const isActive = state === "building" || state === "starting" || state === "live";
  const { data, error, isPending, refetch } = useGet<AppLogs>(
    [project.project_id, "app-log", at, number, state],
    `${at}/logs${path`?deployment=${number}&tail=${LINES}`}`,
    { refetchInterval: isActive ? POLL_MS : false },
  );
  return (
    <div className="mb-4 flex flex-col gap-2">
      <h2 className="font-semibold text-lg">Log of deployment {number}</h2>
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the log" />}
      {data && (
        <ScrollBox
          label={`Lines of the log of deployment ${number}`}
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
    </div>
  );
}
