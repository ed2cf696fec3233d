import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation, useParams } from "wouter";
import type { Webhook, WebhookWithSecret } from "../../../src/contract/webhook.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Deliveries } from "./deliveries.tsx";
import { NewSecret } from "./new-secret.tsx";
import { WebhookBadge } from "./webhooks.tsx";

/** One webhook: what it gets, and its deliveries. */
export function WebhookPage() {
  const project = useProject();
  const { webhookId = "" } = useParams();
  const at = path`/projects/${project.project_id}/webhooks/${webhookId}`;
  const queryKey = [project.project_id, "webhook", webhookId];
  const { data, error, refetch } = useGet<Webhook>(queryKey, at);
  if (!data)
    return (
      <Page title="Webhook">
        <Failure error={error} retry={() => void refetch()} />
        {!error && <Loading what="Loading the webhook" />}
      </Page>
    );
  return (
    <Page title="Webhook" badge={<WebhookBadge webhook={data} />}>
      <Failure error={error} />
      <Actions webhook={data} at={at}>
        <p className="break-all font-mono">
          <Visible>{data.url}</Visible>
        </p>
        <p className="mb-4 text-muted text-sm">
          {data.events.join(", ")} · as {data.format === "json" ? "JSON" : "text"}
          {data.failing_since !== null && (
            <>
              {" "}
              · failing since <Ago at={data.failing_since} />
            </>
          )}
        </p>
        {data.disabled_reason !== null && (
          <div className="mb-4">
            <Notice kind="warning">
              <Visible>{data.disabled_reason}</Visible>
            </Notice>
          </div>
        )}
      </Actions>
      <Deliveries webhookKey={queryKey} at={`${at}/deliveries`} />
    </Page>
  );
}

type Asked = "rotate" | "delete";

function Actions({ webhook, at, children }: { webhook: Webhook; at: string; children: ReactNode }) {
  const project = useProject();
  const [, go] = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey: [project.project_id, "webhook"] });
  const edit = useMutation({
    mutationFn: (body: object) => call<WebhookWithSecret>("PATCH", at, { body }),
    onSuccess: (answer) => {
      setSecret(answer.secret ?? null);
      setAsked(null);
      return changed();
    },
  });
  const test = useMutation({ mutationFn: () => call("POST", `${at}/test`), onSuccess: changed });
  const remove = useMutation({
    mutationFn: () => call("DELETE", at),
    onSuccess: () => {
      go(path`/projects/${project.slug}/settings`);
      return changed();
    },
  });
  const onClose = () => setAsked(null);
  return (
    <>
      {children}
      <div className="mb-6 flex flex-wrap gap-2">
        <Button busy={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
        <Button busy={edit.isPending} onClick={() => edit.mutate({ enabled: !webhook.enabled })}>
          {webhook.enabled ? "Disable" : "Enable"}
        </Button>
        <Button onClick={() => setAsked("rotate")}>Replace the secret …</Button>
        <Button look="danger" onClick={() => setAsked("delete")}>
          Delete …
        </Button>
      </div>
      <Failure error={test.error ?? (asked === null ? edit.error : null)} />
      {secret !== null && (
        <NewSecret secret={secret} done="The secret was replaced." onClose={() => setSecret(null)} />
      )}
      {asked === "rotate" && (
        <Confirm
          title="Replace the secret?"
          verb="Replace the secret"
          action={edit}
          onConfirm={() => edit.mutate({ rotate_secret: true })}
          onClose={onClose}
        >
          <p>Deliveries are signed with the new secret at once. The receiver rejects them until it has it.</p>
        </Confirm>
      )}
      {asked === "delete" && (
        <Confirm
          title="Delete the webhook?"
          verb="Delete the webhook"
          action={remove}
          onConfirm={() => remove.mutate()}
          onClose={onClose}
        >
          <p>Its deliveries are deleted too. You cannot undo this.</p>
        </Confirm>
      )}
    </>
  );
}
