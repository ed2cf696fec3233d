import type { Commit } from "../../../src/contract/repository.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as tables from "../../table/repo.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { noteIfTruncated, shortSha } from "./lists.ts";

/** The default of --limit. */
const RECENT = 30;

export const commits: Handler<typeof tables.commits> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const query = { ref: args.ref, path: flags.path };
  const call = { path: path`/projects/${id}/commits`, query, slow: true };
  const found = await api.list<Commit>(call, "commits", flags.limit ?? RECENT);
  await context.out.result(found, (view) => (found.length === 0 ? "" : table(found, COLUMNS, view)));
  if (found.length === 0) await context.out.note("No commits changed that path.");
  await noteIfTruncated(context, found.length, flags.limit, RECENT);
};

const COLUMNS: Column<Commit>[] = [
  {
    title: "COMMIT",
    value: (row) => row.sha,
    shown: (row) => shortSha(row.sha),
    paint: (_, view) => view.paint.yellow,
  },
  { title: "SUBJECT", value: (row) => row.subject, flexible: true },
  {
    title: "AUTHOR",
    value: (row) => row.author.name,
    shown: ({ author, co_authors }) => [author, ...co_authors].map(({ name }) => name).join(", "),
    flexible: true,
    paint: (_, view) => view.paint.cyan,
  },
  {
    title: "DATE",
    value: (row) => row.author.date ?? "",
    shown: (row, view) => ago(row.author.date ?? "", view.now),
    paint: (_, view) => view.paint.dim,
  },
];
