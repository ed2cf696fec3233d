import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { App, AppWithDeployments, Deployment } from "../../../src/contract/app.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { NewTabOutcome, useNewTab } from "../../parts/new-tab.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { AppLog } from "./log.tsx";
import { AppState, DeploymentState, shortCommit } from "./state.tsx";

/** One app: its state, its deployments and their logs. */
export function AppPage({ params }: { params: { slug: string } }) {
  const project = useProject();
  const { slug } = params;
  const at = path`/projects/${project.project_id}/apps/${slug}`;
  const { data, error, refetch } = useGet<AppWithDeployments>([project.project_id, "app", slug], at);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the app" />;
  return <Shown {...data} at={at} />;
}

function Shown({ app, deployments, at }: AppWithDeployments & { at: string }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const shown = deployments.find(({ number }) => number === chosen) ?? deployments[0];
  return (
    <Page title={app.name ?? app.slug} badge={<AppState app={app} />} actions={<Actions app={app} at={at} />}>
      <p className="mb-4 break-all text-muted">{app.url}</p>
      {app.error && (
        <div className="mb-4">
          <Notice kind="warning">
            <Visible>{app.error}</Visible>
          </Notice>
        </div>
      )}
      <h2 className="mb-2 font-semibold text-lg">Deployments</h2>
      {deployments.length === 0 && <p className="text-muted">No deployments yet.</p>}
      {deployments.length > 0 && (
        <ul className="mb-6 divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {deployments.map((deployment) => (
            <Row
              key={deployment.deployment_id}
              deployment={deployment}
              isShown={deployment.number === shown?.number}
              onShow={() => setChosen(deployment.number)}
            />
          ))}
        </ul>
      )}
      {shown && <AppLog at={at} deployment={shown} />}
      <Command>{`svc apps logs ${app.slug}`}</Command>
    </Page>
  );
}

function Actions({ app, at }: { app: App; at: string }) {
  const project = useProject();
  const queries = useQueryClient();
  const [isStopping, setIsStopping] = useState(false);
  const { open, link } = useNewTab();
  const act = useMutation({
    mutationFn: (verb: "deploy" | "stop") => call<App>("POST", `${at}/${verb}`),
    onSuccess: async () => {
      setIsStopping(false);
      await queries.invalidateQueries({ queryKey: [project.project_id, "app"] });
    },
  });
  return (
    <>
      {app.state === "live" && (
        <Button busy={link.isPending} onClick={() => void open(`${at}/preview`)}>
          Open the app
        </Button>
      )}
      {app.enabled && (
        <Button look="primary" busy={act.isPending && !isStopping} onClick={() => act.mutate("deploy")}>
          Deploy
        </Button>
      )}
      {app.enabled && app.state !== "stopped" && (
        <Button look="danger" onClick={() => setIsStopping(true)}>
          Stop
        </Button>
      )}
      <NewTabOutcome link={link} what="the app" />
      {!isStopping && <Failure error={act.error} />}
      {isStopping && (
        <Confirm
          title={`Stop ${app.slug}?`}
          verb="Stop the app"
          action={act}
          onConfirm={() => act.mutate("stop")}
          onClose={() => setIsStopping(false)}
        >
          <p>svc does not serve it until you deploy it again. A merge does not start it.</p>
        </Confirm>
      )}
    </>
  );
}

interface RowProps {
  deployment: Deployment;
  isShown: boolean;
  onShow: () => void;
}

function Row({ deployment, isShown, onShow }: RowProps) {
  const { number, state, commit, error, created_at } = deployment;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium">Deployment {number}</span>
          <DeploymentState state={state} />
        </p>
        <p className="text-muted text-sm">
          <span className="font-mono">{shortCommit(commit)}</span> started <Ago at={created_at} />
        </p>
        {error && (
          <p className="text-muted text-sm">
            <Visible>{error}</Visible>
          </p>
        )}
      </div>
      <Button aria-pressed={isShown} onClick={onShow} aria-label={`Log of deployment ${number}`}>
        Log
      </Button>
    </li>
  );
}
