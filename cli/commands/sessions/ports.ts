import type { ListeningPort } from "../../../src/contract/ports.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-ports.ts";
import { type Column, table as tableOf } from "../../table-print.ts";
import { findOwnSession } from "./reference.ts";

export const ports: Handler<typeof table.ports> = async (context, { args }) => {
  const { api, path } = await findOwnSession(context, args.id);
  const found = await api.list<ListeningPort>({ path: `${path}/ports` }, "ports");
  await context.out.result(found, (view) => (found.length === 0 ? "" : tableOf(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("No program listens on a port in this sandbox.");
};

const COLUMNS: readonly Column<ListeningPort>[] = [
  { title: "PORT", value: ({ port }) => String(port), paint: (_, view) => view.paint.cyan },
  { title: "PROCESS", value: ({ process }) => process ?? "" },
];
