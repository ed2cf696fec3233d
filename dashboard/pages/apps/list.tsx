import { Link } from "wouter";
import type { App } from "../../../src/contract/app.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { AppState, shortCommit } from "./state.tsx";

/** The apps of a project, as svc.toml on its default branch defines them. */
export function Apps() {
  const project = useProject();
  const { data, error, isPending, refetch } = useGet<{ apps: App[] }>(
    [project.project_id, "app", "list"],
    path`/projects/${project.project_id}/apps`,
  );
  return (
    <Page title="Apps">
      <p className="mb-4 max-w-prose text-muted">
        svc builds the [[apps]] of svc.toml on {project.default_branch} and serves them, to the members of
        this project unless an app is public. A merge that changes an app deploys it.
      </p>
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the apps" />}
      {data?.apps.length === 0 && (
        <Empty title="No apps yet" command="svc validate">
          Add [[apps]] to svc.toml, check it, and merge it:
        </Empty>
      )}
      {data && data.apps.length > 0 && (
        <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {data.apps.map((app) => (
            <Row key={app.app_id} app={app} slug={project.slug} />
          ))}
        </ul>
      )}
    </Page>
  );
}

function Row({ app, slug }: { app: App; slug: string }) {
  const { live } = app;
  return (
    <li className="flex flex-col gap-1 px-4 py-3">
      <p className="flex min-w-0 flex-wrap items-center gap-2">
        <Link href={path`/projects/${slug}/apps/${app.slug}`} className="min-w-0 font-medium">
          <Visible>{app.name ?? app.slug}</Visible>
        </Link>
        <AppState app={app} />
      </p>
      <p className="break-all text-muted text-sm">
        {app.url}
        {app.public_url !== null && " · public"}
      </p>
      {live && (
        <p className="text-muted text-sm">
          <span className="font-mono">{shortCommit(live.commit)}</span>
          {live.live_at && (
            <>
              {" "}
              live since <Ago at={live.live_at} />
            </>
          )}
        </p>
      )}
      {app.error && (
        <p className="text-danger text-sm">
          <Visible>{app.error}</Visible>
        </p>
      )}
    </li>
  );
}
