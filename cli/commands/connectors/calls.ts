import type { ConnectorCall } from "../../../src/contract/connector.ts";
import { path } from "../../api.ts";
import { authorText } from "../../author-text.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const calls: Handler<typeof table.calls> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const limit = flags.limit === undefined ? "" : `?limit=${flags.limit}`;
  const { calls: found } = await api.call<{ calls: ConnectorCall[] }>({
    path: path`/projects/${id}/connector-calls` + limit,
  });
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("No calls yet.");
};

const COLUMNS: readonly Column<ConnectorCall>[] = [
  {
    title: "CREATED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, view) => ago(created_at, view.now),
  },
  { title: "CONNECTOR", value: ({ connector }) => connector, paint: (_, view) => view.paint.cyan },
  { title: "CALL", value: ({ tool }) => tool, flexible: true },
  { title: "BY", value: ({ author }) => authorText(author) },
  { title: "POLICY", value: ({ action }) => action },
  { title: "OUTCOME", value: ({ outcome }) => outcome },
  { title: "MS", value: ({ duration_ms }) => String(duration_ms ?? "") },
  { title: "ERROR", value: ({ error }) => error ?? "", paint: (_, view) => view.paint.red, flexible: true },
];
