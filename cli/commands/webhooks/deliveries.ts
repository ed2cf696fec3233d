import type { Delivery } from "../../../src/contract/webhook.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";
import { findWebhook } from "./named.ts";

export const deliveries: Handler<typeof table.deliveries> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { webhook_id } = await findWebhook(api, id, args.webhook);
  const limit = flags.limit === undefined ? "" : `?limit=${flags.limit}`;
  const { deliveries: found } = await api.call<{ deliveries: Delivery[] }>({
    path: path`/projects/${id}/webhooks/${webhook_id}/deliveries` + limit,
  });
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0)
    await context.out.note(`No deliveries yet. Next: svc webhooks test ${webhook_id.slice(0, 8)}`);
};

const COLUMNS: readonly Column<Delivery>[] = [
  {
    title: "ID",
    value: ({ delivery_id }) => delivery_id,
    shown: ({ delivery_id }) => delivery_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  {
    title: "CREATED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, view) => ago(created_at, view.now),
  },
  { title: "EVENT", value: ({ type }) => type },
  { title: "STATE", value: ({ status }) => status },
  { title: "ATTEMPTS", value: ({ attempts }) => String(attempts) },
  { title: "STATUS", value: ({ status_code }) => String(status_code ?? "") },
  { title: "MS", value: ({ duration_ms }) => String(duration_ms ?? "") },
  {
    title: "ERROR",
    value: ({ error }) => error ?? "",
    paint: (_, view) => view.paint.red,
    flexible: true,
  },
];
