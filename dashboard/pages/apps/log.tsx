import type { Deployment } from "../../../src/contract/app.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { LOG_LINES, PolledLog } from "../sessions/polled-log.tsx";

/** Polling interval while a deployment is building or running. */
const POLL_MS = 3_000;

/** The end of a deployment's log. */
export function AppLog({ at, deployment }: { at: string; deployment: Deployment }) {
  const project = useProject();
  const { number, state } = deployment;
  const isActive = state === "building" || state === "starting" || state === "live";
  return (
    <div className="mb-4 flex flex-col gap-2">
      <h2 className="font-semibold text-lg">Log of deployment {number}</h2>
      <PolledLog
        queryKey={[project.project_id, "app-log", at, number, state]}
        at={`${at}/logs${path`?deployment=${number}&tail=${LOG_LINES}`}`}
        label={`Lines of the log of deployment ${number}`}
        every={isActive && POLL_MS}
      />
    </div>
  );
}
