import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Webhook, WebhookWithSecret } from "../../../src/contract/webhook.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible } from "../../parts/visible.tsx";
import { CreateWebhook } from "./create-webhook.tsx";
import { NewSecret } from "./new-secret.tsx";

/** Lists the webhooks of a project, and adds one. Only owners and admins may, so others do not see the section. */
export function Webhooks() {
  const project = useProject();
  return useMayManage(project) === true ? <WebhookSection /> : null;
}

function WebhookSection() {
  const project = useProject();
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<WebhookWithSecret | null>(null);
  const queries = useQueryClient();
  const queryKey = [project.project_id, "webhook"];
  const at = path`/projects/${project.project_id}/webhooks`;
  const { data, error, isPending, refetch } = useGet<{ webhooks: Webhook[] }>(queryKey, at);
  return (
    <Section
      title="Webhooks"
      about="Send the events of this project to a URL, or to a chat that has incoming webhooks."
      actions={<Button onClick={() => setIsMaking(true)}>New webhook</Button>}
    >
      {made?.secret !== undefined && (
        <NewSecret secret={made.secret} done="The webhook was added." onClose={() => setMade(null)} />
      )}
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the webhooks" />}
      {data?.webhooks.length === 0 && <p className="text-muted">No webhooks yet.</p>}
      <ul className="divide-y divide-line">
        {data?.webhooks.map((webhook) => (
          <Row
            key={webhook.webhook_id}
            webhook={webhook}
            to={path`/projects/${project.slug}/webhooks/${webhook.webhook_id}`}
          />
        ))}
      </ul>
      {isMaking && (
        <CreateWebhook
          at={at}
          onMade={(webhook) => {
            setMade(webhook);
            setIsMaking(false);
            void queries.invalidateQueries({ queryKey });
          }}
          onClose={() => setIsMaking(false)}
        />
      )}
    </Section>
  );
}

function Row({ webhook, to }: { webhook: Webhook; to: string }) {
  return (
    <li className="py-3 first:pt-0 last:pb-0">
      <p className="flex flex-wrap items-center gap-2">
        <Link href={to} className="min-w-0 break-all font-medium">
          <Visible>{webhook.url}</Visible>
        </Link>
        <WebhookBadge webhook={webhook} />
      </p>
      <p className="text-muted text-sm">{webhook.events.join(", ")}</p>
    </li>
  );
}

/** Whether events are sent to a webhook, and whether it takes them. */
export function WebhookBadge({ webhook }: { webhook: Webhook }) {
  if (!webhook.enabled) return <Badge look="warn">Disabled</Badge>;
  if (webhook.failing_since !== null) return <Badge look="danger">Failing</Badge>;
  return <Badge look="ok">Enabled</Badge>;
}
