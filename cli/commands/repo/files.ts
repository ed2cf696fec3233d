import type { TreeEntry } from "../../../src/contract/repository.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as tables from "../../table/repo.ts";
import { type Column, table } from "../../table-print.ts";
import { MANY, noteIfTruncated } from "./lists.ts";

export const files: Handler<typeof tables.files> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const query = { ref: flags.ref, path: args.path };
  const call = { path: path`/projects/${id}/files`, query, slow: true };
  const found = await api.list<TreeEntry>(call, "entries", flags.limit ?? MANY);
  await context.out.result(found, (view) => (found.length === 0 ? "" : table(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("The directory is empty.");
  await noteIfTruncated(context, found.length, flags.limit, MANY);
};

const COLUMNS: Column<TreeEntry>[] = [
  { title: "TYPE", value: (row) => row.type, paint: (_, view) => view.paint.dim },
  { title: "SIZE", value: (row) => (row.size === null ? "" : String(row.size)) },
  {
    title: "NAME",
    value: (row) => row.path,
    shown: (row) => (row.type === "directory" ? `${row.name}/` : row.name),
    flexible: true,
    paint: (row, view) => (row.type === "directory" ? view.paint.cyan : (text) => text),
  },
];
