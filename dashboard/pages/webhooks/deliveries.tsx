import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Delivery } from "../../../src/contract/webhook.ts";
import { call } from "../../api/call.ts";
import { useList } from "../../api/list.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge, type BadgeLook } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

/** How often deliveries that are about to be sent are read again: they cause no event. */
const POLL_MS = 1_000;
/** A delivery that is retried later than this is not waited for. */
const SOON_MS = 10_000;
const LOOKS: Readonly<Record<Delivery["status"], BadgeLook>> = {
  pending: "info",
  delivered: "ok",
  failed: "danger",
};

/** The deliveries of a webhook, newest first. @param webhookKey the query of the webhook, whose state follows from them */
export function Deliveries({ webhookKey, at }: { webhookKey: readonly unknown[]; at: string }) {
  const queryKey = [...webhookKey, "deliveries"];
  const queries = useQueryClient();
  const list = useList<Delivery>(queryKey, at, "deliveries", {
    pollMs: (rows) => (rows.some(isSoon) ? POLL_MS : false),
  });
  const attempts = list.rows.reduce((sum, delivery) => sum + delivery.attempts, 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each attempt, and never because of the key's identity
  useEffect(() => {
    if (attempts > 0) void queries.invalidateQueries({ queryKey: webhookKey, exact: true });
  }, [attempts]);
  return (
    <section aria-label="Deliveries">
      <h2 className="mb-2 font-semibold text-lg">Deliveries</h2>
      <Failure error={list.error} retry={() => void list.refetch()} />
      {list.isPending && <Loading what="Loading the deliveries" />}
      {list.isSuccess && list.rows.length === 0 && <p className="text-muted">Nothing was sent yet.</p>}
      {list.rows.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {list.rows.map((delivery) => (
            <Row key={delivery.delivery_id} delivery={delivery} queryKey={queryKey} at={at} />
          ))}
        </ul>
      )}
      <More list={list} isEnd />
    </section>
  );
}

function isSoon({ status, next_attempt_at }: Delivery): boolean {
  if (status !== "pending") return false;
  return next_attempt_at === null || Date.parse(next_attempt_at) < Date.now() + SOON_MS;
}

interface RowProps {
  delivery: Delivery;
  queryKey: readonly unknown[];
  at: string;
}

function Row({ delivery, queryKey, at }: RowProps) {
  const queries = useQueryClient();
  const again = useMutation({
    mutationFn: () => call("POST", at + path`/${delivery.delivery_id}/redeliver`),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <Badge look={LOOKS[delivery.status]}>{delivery.status}</Badge>
          <span className="font-mono">{delivery.type}</span>
          {delivery.redelivery && <Badge look="neutral">Redelivery</Badge>}
          <span className="text-muted text-sm">
            <Ago at={delivery.created_at} />
          </span>
        </p>
        <p className="text-muted text-sm">
          {delivery.status_code !== null && `Answered ${delivery.status_code}. `}
          {delivery.attempts > 1 && `${delivery.attempts} attempts. `}
          {delivery.error !== null && <Visible>{delivery.error}</Visible>}
        </p>
        {delivery.response !== null && delivery.response !== "" && (
          <details className="text-sm">
            <summary className="cursor-pointer text-muted">Response</summary>
            <pre className="whitespace-pre-wrap break-all font-mono">
              <Visible>{delivery.response}</Visible>
            </pre>
          </details>
        )}
        <Failure error={again.error} />
      </div>
      {delivery.status !== "pending" && (
        <Button busy={again.isPending} onClick={() => again.mutate()}>
          Redeliver
        </Button>
      )}
    </li>
  );
}
