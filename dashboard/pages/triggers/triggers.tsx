import { Link } from "wouter";
import type { Trigger, TriggerList } from "../../../src/contract/trigger.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { ManifestProblems } from "../../parts/manifest-problems.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Act } from "./act.tsx";
import { When } from "./when.tsx";

/** The triggers on the default branch, which start sessions automatically. */
export function Triggers() {
  const project = useProject();
  const { data, error, isPending, refetch } = useGet<TriggerList>(
    [project.project_id, "trigger"],
    path`/projects/${project.project_id}/triggers`,
  );
  return (
    <Page title="Triggers">
      <p className="mb-4 max-w-prose text-muted">
        Triggers start sessions on a schedule or by webhook. svc reads them from svc.toml on{" "}
        <Visible>{project.default_branch}</Visible>.
      </p>
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the triggers" />}
      {data && <Problems list={data} />}
      {data?.triggers.length === 0 && (
        <Empty title="No triggers yet" command="svc init">
          Add [[triggers]] to svc.toml and merge it. To create svc.toml, run:
        </Empty>
      )}
      {data && data.triggers.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {data.triggers.map((trigger) => (
            <Row key={trigger.slug} slug={project.slug} trigger={trigger} />
          ))}
        </ul>
      )}
    </Page>
  );
}

function Problems({ list: { errors, failure } }: { list: TriggerList }) {
  if (errors.length === 0 && failure === null) return null;
  return (
    <div className="mb-4 flex flex-col gap-3">
      {failure !== null && (
        <Notice kind="warning">
          svc could not read the default branch at its last check: <Visible>{failure}</Visible>
        </Notice>
      )}
      {errors.length > 0 && (
        <Notice kind="warning">
          svc.toml on the default branch has problems. svc ignores entries with errors.
          <ManifestProblems errors={errors} />
        </Notice>
      )}
    </div>
  );
}

function Row({ slug, trigger }: { slug: string; trigger: Trigger }) {
  const { next_fire_at, last_fired_at, last_error } = trigger;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <Link href={path`/projects/${slug}/triggers/${trigger.slug}`} className="font-medium">
            <Visible>{trigger.name ?? trigger.slug}</Visible>
          </Link>
          {!trigger.enabled && <Badge look="neutral">Disabled</Badge>}
          {last_error !== null && <Badge look="danger">Problem</Badge>}
        </p>
        <p className="flex flex-wrap gap-x-3 text-muted text-sm">
          <When trigger={trigger} />
          {next_fire_at !== null && (
            <span>
              Next <Ago at={next_fire_at} />
            </span>
          )}
          <span>
            {last_fired_at === null ? (
              "Never fired"
            ) : (
              <>
                Last <Ago at={last_fired_at} />
              </>
            )}
          </span>
        </p>
        {last_error !== null && (
          <p className="mt-1 text-danger text-sm">
            <Visible>{last_error}</Visible>
          </p>
        )}
      </div>
      <Act trigger={trigger} />
    </li>
  );
}
