import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { App, AppList } from "../../../src/contract/app.ts";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { NewTabOutcome, useNewTab } from "../../parts/new-tab.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { AppState } from "../apps/state.tsx";
import { PolledLog } from "../sessions/polled-log.tsx";
import type { Where } from "./queries.ts";

/** Polling interval of a log while its deployment is in progress or live. */
const POLL_MS = 3_000;
/** Lines of a log that is opened, and of the end that is shown with a failure. */
const [LINES, END_LINES] = [200, 12];

/** The previews of a change request's apps. Nothing without any. */
export function Previews({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const at = path`/projects/${where.projectId}/change-requests/${cr.number}/apps`;
  // an event of an app refetches it
  const found = useGet<AppList>([where.projectId, "app", "previews", cr.cr_id], at);
  if (!found.data || found.data.apps.length === 0) return null;
  return (
    <section aria-labelledby="previews" className="flex flex-col gap-2">
      <h2 id="previews" className="font-semibold">
        Previews
      </h2>
      <ul className="flex flex-col gap-3">
        {found.data.apps.map((app) => (
          <PreviewRow
            key={app.app_id}
            projectId={where.projectId}
            app={app}
            at={`${at}${path`/${app.slug}`}`}
          />
        ))}
      </ul>
    </section>
  );
}

function PreviewRow({ projectId, app, at }: { projectId: string; app: App; at: string }) {
  const [isLogShown, setIsLogShown] = useState(false);
  const queries = useQueryClient();
  const { open, link } = useNewTab();
  const deploy = useMutation({
    mutationFn: () => call<App>("POST", `${at}/deploy`),
    onSettled: () => queries.invalidateQueries({ queryKey: [projectId, "app"] }),
  });
  const { slug, state, error, live, next } = app;
  const hasFailed = state === "failed";
  const isActive = next !== null || live !== null;
  return (
    <li className="flex flex-col gap-1.5 text-sm">
      <span className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 break-words font-medium">
          <Visible>{app.name ?? slug}</Visible>
        </span>
        <AppState app={app} />
      </span>
      {error !== null && (
        <p className="break-words text-muted">
          <Visible>{error}</Visible>
        </p>
      )}
      <span className="flex flex-wrap gap-2">
        {live !== null && (
          <Button
            busy={link.isPending}
            aria-label={`Open ${slug}`}
            onClick={() => void open(`${at}/preview`)}
          >
            Open
          </Button>
        )}
        <Button busy={deploy.isPending} aria-label={`Redeploy ${slug}`} onClick={() => deploy.mutate()}>
          Redeploy
        </Button>
        <Button
          aria-expanded={isLogShown}
          aria-label={`Log of ${slug}`}
          onClick={() => setIsLogShown(!isLogShown)}
        >
          Log
        </Button>
      </span>
      <NewTabOutcome link={link} what="the preview" />
      <Failure error={deploy.error} />
      {(isLogShown || hasFailed) && (
        <PolledLog
          queryKey={[projectId, "app-log", at, next?.number ?? live?.number, state, isLogShown]}
          at={`${at}/logs${path`?tail=${isLogShown ? LINES : END_LINES}`}`}
          label={`Lines of the log of ${slug}`}
          every={isActive && POLL_MS}
        />
      )}
    </li>
  );
}
