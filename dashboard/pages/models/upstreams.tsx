import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ModelUpstream } from "../../../src/contract/model-upstream.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { AddUpstream } from "./add-upstream.tsx";

interface Props {
  /** Whose list it is: its upstreams can be changed here, and the others cannot. */
  of: "project" | "server";
  queryKey: readonly unknown[];
  /** API path of the list, below `/v1`. */
  at: string;
  about: string;
  /** What an empty list means. */
  empty: string;
  mayManage: boolean;
}

/** The upstreams that run models, of a project or of the server, and their addition and removal. */
export function Upstreams({ of, queryKey, at, about, empty, mayManage }: Props) {
  const [isAdding, setIsAdding] = useState(false);
  const [removing, setRemoving] = useState<ModelUpstream | null>(null);
  const queries = useQueryClient();
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
      about={about}
      actions={mayManage && <Button onClick={() => setIsAdding(true)}>Add an upstream</Button>}
    >
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the models" />}
      {data?.model_upstreams.length === 0 && <p className="text-muted">{empty}</p>}
      <ul className="divide-y divide-line">
        {data?.model_upstreams.map((upstream) => (
          <Row
            key={`${upstream.source} ${upstream.id}`}
            upstream={upstream}
            of={of}
            onRemove={mayManage && upstream.source === of ? () => setRemoving(upstream) : null}
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
          verb="Remove the upstream"
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

const SOURCES: Record<ModelUpstream["source"], string> = {
  project: "Project",
  server: "Server",
  configuration: "Configuration",
};

interface RowProps {
  upstream: ModelUpstream;
  of: Props["of"];
  onRemove: (() => void) | null;
}

function Row({ upstream, of, onRemove }: RowProps) {
  const { id, source, overridden, format, url, models } = upstream;
  const names = models?.map((model) => model.id).join(", ") ?? "any model";
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <Visible>{id}</Visible>
          {source !== of && <Badge look="info">{SOURCES[source]}</Badge>}
          {overridden && <Badge look="warn">Not used: the configuration has this name</Badge>}
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
