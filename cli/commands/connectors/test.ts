import type { ConnectorTest, ConnectorTool } from "../../../src/contract/connector.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

export const test: Handler<typeof table.test> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const tested = await api.call<ConnectorTest>({
    method: "POST",
    path: path`/projects/${id}/connectors/${args.slug}/test`,
  });
  const { tools, left_out } = tested;
  await context.out.result(tested, (view) => (tools.length === 0 ? "" : tableOf(tools, COLUMNS, view)));
  if (tools.length === 0) await context.out.note("The connector answers, and has no tools.");
  if (left_out > 0)
    await context.out.note(`Not offered: ${left_out} tools that are invalid, too large or too many.`);
};

const COLUMNS: readonly Column<ConnectorTool>[] = [
  { title: "TOOL", value: ({ name }) => name, paint: (_, view) => view.paint.cyan },
  { title: "POLICY", value: ({ action }) => action },
  {
    title: "DESCRIPTION",
    value: ({ description }) => description,
    shown: ({ description }) => description.split("\n")[0] ?? "",
    flexible: true,
  },
];
