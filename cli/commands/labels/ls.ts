import type { Label } from "../../../src/contract/label.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/labels.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { labels } = await api.call<{ labels: Label[] }>({ path: path`/projects/${id}/labels` });
  await context.out.result(labels, (view) => (labels.length === 0 ? "" : tableOf(labels, COLUMNS, view)));
  if (labels.length === 0) await context.out.note("No labels yet. Next: svc labels new bug --hex d73a4a");
};

const COLUMNS: readonly Column<Label>[] = [
  { title: "NAME", value: ({ name }) => name, paint: (_, view) => view.paint.cyan },
  { title: "COLOR", value: ({ color }) => color },
  { title: "DESCRIPTION", value: ({ description }) => description ?? "", flexible: true },
];
