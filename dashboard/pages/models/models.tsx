import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ModelUpstream } from "../../../src/contract/model-upstream.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { AddUpstream } from "./add-upstream.tsx";

/** The services that run a project's models. Owners and admins add some with the project's own key. */
export function Models() {
  const project = useProject();
  const mayManage = useMayManage(project) === true;
  const [isAdding, setIsAdding] = useState(false);
  const [removing, setRemoving] = useState<ModelUpstream | null>(null);
  const queries = useQueryClient();
  const queryKey = [project.project_id, "model_upstream"];
  const at = path`/projects/${project.project_id}/model-upstreams`;
  const { data, error, isPending, refetch } = useGet<{ model_upstreams: ModelUpstream[] }>(queryKey, at);
  const changed = () => queries.invalidateQueries({ queryKey });
  const remove = useMutation({
    mutationFn: ({ id }: ModelUpstream) => call("DELETE", at + path`/${id}`),
    async onSuccess() {
      setRemoving(null);
      await changed();
    },
  });
  return (
    <Section
      title="Models"
      about="The services that run the models of this project's agents. svc calls them, and keeps their keys from the agents."
      actions={mayManage && <Button onClick={() => setIsAdding(true)}>Add a service</Button>}
    >
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the models" />}
      {data?.model_upstreams.length === 0 && (
        <p className="text-muted">Neither the project nor the server has a service for models.</p>
      )}
      <ul className="divide-y divide-line">
        {data?.model_upstreams.map((upstream) => (
          <Row
            key={`${upstream.source} ${upstream.id}`}
            upstream={upstream}
            onRemove={mayManage && upstream.source === "project" ? () => setRemoving(upstream) : null}
          />
        ))}
      </ul>
      {isAdding && (
        <AddUpstream
          at={at}
          onDone={async () => {
            setIsAdding(false);
            await changed();
          }}
          onClose={() => setIsAdding(false)}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove ${visibleText(removing.id)}?`}
          verb="Remove the service"
          action={remove}
          onConfirm={() => remove.mutate(removing)}
          onClose={() => {
            remove.reset();
            setRemoving(null);
          }}
        >
          <p>Its key is deleted. Sessions that use its models get an error.</p>
        </Confirm>
      )}
    </Section>
  );
}

function Row({ upstream, onRemove }: { upstream: ModelUpstream; onRemove: (() => void) | null }) {
  const { id, source, format, url, models } = upstream;
  const names = models?.map((model) => model.id).join(", ") ?? "any model";
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <Visible>{id}</Visible>
          {source === "server" && <Badge look="info">Server</Badge>}
        </p>
        <p className="break-words text-muted text-sm">
          {format} · <Visible>{names}</Visible>
          {url !== null && (
            <>
              {" "}
              · <Visible>{url}</Visible>
            </>
          )}
        </p>
      </div>
      {onRemove && (
        <Button look="danger" onClick={onRemove} aria-label={`Remove ${visibleText(id)}`}>
          Remove
        </Button>
      )}
    </li>
  );
}
