import type { Branch } from "../../../src/contract/repository.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as tables from "../../table/repo.ts";
import { type Column, table } from "../../table-print.ts";
import { MANY, noteIfTruncated, shortSha } from "./lists.ts";

export const branches: Handler<typeof tables.branches> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const call = { path: path`/projects/${id}/branches`, slow: true };
  const found = await api.list<Branch>(call, "branches", flags.limit ?? MANY);
  await context.out.result(found, (view) => (found.length === 0 ? "" : table(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("The repository is empty. Push a branch to it first.");
  await noteIfTruncated(context, found.length, flags.limit, MANY);
};

const COLUMNS: Column<Branch>[] = [
  { title: "BRANCH", value: (row) => row.name, flexible: true, paint: (_, view) => view.paint.cyan },
  {
    title: "COMMIT",
    value: (row) => row.commit_sha,
    shown: (row) => shortSha(row.commit_sha),
    paint: (_, view) => view.paint.yellow,
  },
  { title: "", value: (row) => (row.is_default ? "default" : "") },
];
