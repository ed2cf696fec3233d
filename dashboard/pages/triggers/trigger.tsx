import { Link, useParams } from "wouter";
import type { Firing, TriggerDetail } from "../../../src/contract/trigger.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, type BadgeLook } from "../../parts/badge.tsx";
import { Command } from "../../parts/command.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Act } from "./act.tsx";
import { When } from "./when.tsx";

/** One trigger: its configuration, its webhook and its last firings. */
export function TriggerPage() {
  const project = useProject();
  const { trigger: slug = "" } = useParams();
  const { data, error, refetch } = useGet<TriggerDetail>(
    [project.project_id, "trigger", slug],
    path`/projects/${project.project_id}/triggers/${slug}`,
  );
  if (!data) {
    return (
      <Page title={slug}>
        <Failure error={error} retry={() => void refetch()} />
        {!error && <Loading what="Loading the trigger" />}
      </Page>
    );
  }
  return (
    <Page
      title={data.name ?? data.slug}
      badge={<Badge look={data.enabled ? "ok" : "neutral"}>{data.enabled ? "Enabled" : "Disabled"}</Badge>}
      actions={<Act trigger={data} />}
    >
      <Failure error={error} />
      {data.last_error !== null && (
        <div className="mb-4">
          <Notice kind="warning">
            <Visible>{data.last_error}</Visible>
          </Notice>
        </div>
      )}
      <Section title="Configuration" about="From svc.toml on the default branch.">
        <p className="flex flex-wrap gap-x-3 text-muted text-sm">
          <When trigger={data} />
          {data.agent !== null && (
            <span>
              Agent <Visible>{data.agent}</Visible>
            </span>
          )}
          {data.model !== null && (
            <span>
              Model <Visible>{data.model}</Visible>
            </span>
          )}
          {data.secrets !== null && (
            <span>{data.secrets.length === 0 ? "No secrets" : `Secrets ${data.secrets.join(", ")}`}</span>
          )}
          {data.next_fire_at !== null && (
            <span>
              Next <Ago at={data.next_fire_at} />
            </span>
          )}
        </p>
        <ScrollBox label="Prompt" className="mt-3 max-h-80 whitespace-pre-wrap font-mono text-sm">
          <Visible>{data.prompt}</Visible>
        </ScrollBox>
      </Section>
      {data.webhook_url !== null && <Webhook url={data.webhook_url} secret={data.secret_env ?? ""} />}
      <Section title="Last firings">
        {data.firings.length === 0 ? (
          <p className="text-muted">It has not fired yet.</p>
        ) : (
          <ul className="divide-y divide-line">
            {data.firings.map((firing) => (
              <Row key={firing.firing_id} firing={firing} projectSlug={project.slug} />
            ))}
          </ul>
        )}
      </Section>
    </Page>
  );
}

function Webhook({ url, secret }: { url: string; secret: string }) {
  const example = `body='{}'; curl -H "X-Svc-Signature: sha256=$(printf %s "$body" | openssl dgst -sha256 -hmac "$${secret}" -r | cut -d' ' -f1)" --data-binary "$body" ${url}`;
  return (
    <Section
      title="Webhook"
      about={
        <>
          Requests are signed with the project secret <Visible>{secret}</Visible>. Webhooks of GitHub work
          without changes.
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Command label="Copy the address">{url}</Command>
        <Command label="Copy the example">{example}</Command>
      </div>
    </Section>
  );
}

const LOOKS: Readonly<Record<Firing["state"], BadgeLook>> = {
  waiting: "info",
  fired: "ok",
  failed: "danger",
  skipped: "warn",
  missed: "warn",
};

function Row({ firing, projectSlug }: { firing: Firing; projectSlug: string }) {
  const { state, source, due_at, due_until, session_id, error } = firing;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
      <Badge look={LOOKS[state]}>{state}</Badge>
      <span>
        <Ago at={due_at} />
        {due_until !== null && due_until !== due_at && (
          <>
            {" "}
            to <Ago at={due_until} />
          </>
        )}
      </span>
      <span className="text-muted text-sm">{WORDS[source]}</span>
      {state === "fired" && session_id !== null && (
        <Link href={path`/projects/${projectSlug}/sessions/${session_id}`}>
          Session {session_id.slice(0, 8)}
        </Link>
      )}
      {error !== null && (
        <span className="text-muted text-sm">
          <Visible>{error}</Visible>
        </span>
      )}
    </li>
  );
}

const WORDS: Readonly<Record<Firing["source"], string>> = {
  cron: "by schedule",
  webhook: "by webhook",
  manual: "manually",
};
