import type { ConnectorAsk } from "../../../src/contract/connector.ts";
import { path } from "../../api.ts";
import { authorText } from "../../author-text.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const asks: Handler<typeof table.asks> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { asks: found } = await api.call<{ asks: ConnectorAsk[] }>({
    path: `${path`/projects/${id}/connector-asks`}?state=${flags.all ? "all" : "pending"}`,
  });
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  const [first] = found;
  if (first === undefined) return await context.out.note("No call waits for an approval.");
  const ask = first.ask_id.slice(0, 8);
  await context.out.note(`Next: svc connectors approve ${ask}, or svc connectors deny ${ask}`);
};

const COLUMNS: readonly Column<ConnectorAsk>[] = [
  {
    title: "ID",
    value: ({ ask_id }) => ask_id,
    shown: ({ ask_id }) => ask_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  {
    title: "CREATED",
    value: ({ created_at }) => created_at,
    shown: ({ created_at }, view) => ago(created_at, view.now),
  },
  { title: "BY", value: ({ author }) => authorText(author) },
  { title: "CONNECTOR", value: ({ connector }) => connector },
  { title: "CALL", value: ({ tool }) => tool },
  { title: "STATE", value: ({ state }) => state },
  // whole, since a person decides on them
  { title: "ARGUMENTS", value: (ask) => ask.arguments },
];
