import type { Connector } from "../../../src/contract/connector.ts";
import { OAUTH } from "../../../src/contract/manifest/kinds.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { connectors } = await api.call<{ connectors: Connector[] }>({
    path: path`/projects/${id}/connectors`,
  });
  await context.out.result(connectors, (view) =>
    connectors.length === 0 ? "" : tableOf(connectors, COLUMNS, view),
  );
  const open = connectors.find(({ auth, secret_missing }) => auth === OAUTH && secret_missing);
  if (open) await context.out.note(`Next: svc connectors connect ${open.slug}`);
  if (connectors.length === 0)
    await context.out.note("No connectors. Add [[connectors]] to svc.toml in a change request.");
};

const COLUMNS: readonly Column<Connector>[] = [
  { title: "SLUG", value: ({ slug }) => slug, paint: (_, view) => view.paint.cyan },
  { title: "TYPE", value: ({ type }) => type },
  { title: "ADDRESS", value: ({ url, spec }) => url ?? spec ?? "", flexible: true },
  { title: "POLICIES", value: ({ policies }) => String(policies.length) },
  { title: "SECRET", value: ({ auth }) => auth ?? "" },
  {
    title: "PROBLEM",
    value: problemOf,
    paint: (_, view) => view.paint.red,
  },
];

function problemOf({ auth, secret_missing }: Connector): string {
  if (!secret_missing) return "";
  return auth === OAUTH ? "not connected" : "the secret is not set";
}
