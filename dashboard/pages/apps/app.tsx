import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { App, AppWithDeployments } from "../../../src/contract/app.ts";
import { sizeText } from "../../../src/contract/size.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { NewTabOutcome, useNewTab } from "../../parts/new-tab.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { DeploymentChanges } from "./changes.tsx";
import { Deployments } from "./deployments.tsx";
import { Domains } from "./domains.tsx";
import { AppLog } from "./log.tsx";
import { AppState } from "./state.tsx";

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

function Shown({ app, deployments, problem, at }: AppWithDeployments & { at: string }) {
  const [chosen, setChosen] = useState<number | null>(null);
  const shown = deployments.find(({ number }) => number === chosen) ?? deployments[0];
  return (
    <Page title={app.name ?? app.slug} badge={<AppState app={app} />} actions={<Actions app={app} at={at} />}>
      <p className="mb-4 break-all text-muted">
        {app.public_url ?? app.url} · {accessOf(app)}
      </p>
      {app.volume !== null && (
        <p className="mb-4 break-all text-muted">
          {`Volume: ${app.volume.path ?? "not in svc.toml"}`}
          {app.volume.bytes !== null && ` · ${sizeText(app.volume.bytes)}`}
        </p>
      )}
      {[app.error, problem].map(
        (sentence) =>
          sentence && (
            <div key={sentence} className="mb-4">
              <Notice kind="warning">
                <Visible>{sentence}</Visible>
              </Notice>
            </div>
          ),
      )}
      {!app.auto_deploy && (
        <div className="mb-4">
          <Notice kind="info">
            This app was rolled back. Merges do not deploy it until you do, with the button Deploy.
          </Notice>
        </div>
      )}
      <Domains app={app} at={at} />
      <h2 className="mb-2 font-semibold text-lg">Deployments</h2>
      {deployments.length === 0 && <p className="text-muted">No deployments yet.</p>}
      {shown && <Deployments app={app} at={at} deployments={deployments} shown={shown} onShow={setChosen} />}
      {shown && <DeploymentChanges at={at} deployment={shown} />}
      {shown && <AppLog at={at} deployment={shown} />}
      <Command>{`svc apps logs ${app.slug}`}</Command>
    </Page>
  );
}

function accessOf({ access, enabled, public_url }: App): string {
  if (public_url !== null) return "public: everybody can open it";
  if (access === "public" && enabled) return "for members: this server forbids public apps";
  return "for members";
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
