import type { Webhook } from "../../../src/contract/webhook.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { webhooks } = await api.call<{ webhooks: Webhook[] }>({ path: path`/projects/${id}/webhooks` });
  await context.out.result(webhooks, (view) =>
    webhooks.length === 0 ? "" : tableOf(webhooks, COLUMNS, view),
  );
  if (webhooks.length === 0) await context.out.note("No webhooks yet. Next: svc webhooks add <url>");
};

const COLUMNS: readonly Column<Webhook>[] = [
  {
    title: "ID",
    value: ({ webhook_id }) => webhook_id,
    shown: ({ webhook_id }) => webhook_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  { title: "URL", value: ({ url }) => url, flexible: true },
  { title: "FORMAT", value: ({ format }) => format },
  { title: "EVENTS", value: ({ events }) => events.join(","), shown: ({ events }) => String(events.length) },
  {
    title: "ENABLED",
    value: ({ enabled }) => String(enabled),
    shown: ({ enabled }) => (enabled ? "yes" : "no"),
  },
  {
    title: "PROBLEM",
    value: ({ disabled_reason, failing_since }) =>
      disabled_reason ?? (failing_since === null ? "" : `failing since ${failing_since}`),
    shown: ({ disabled_reason, failing_since }, view) =>
      disabled_reason ?? (failing_since === null ? "" : `failing since ${ago(failing_since, view.now)}`),
    paint: (_, view) => view.paint.red,
    flexible: true,
  },
];
