import type { ChangeRequestDiff, DiffFile } from "../../../src/contract/change-request.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as spec from "../../table/cr-read.ts";
import { type Column, table } from "../../table-print.ts";
import { findCr } from "./reference.ts";

export const files: Handler<typeof spec.files> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr);
  const { files } = await api.call<ChangeRequestDiff>({ path: `${path}/diff`, slow: true });
  await context.out.result(files, (view) => filesTable(files, view));
  if (files.length === 0) await context.out.note("No files are changed.");
};

/** Changed files, with the lines that are added and removed. */
export function filesTable(files: readonly DiffFile[], view: View): string {
  return files.length === 0 ? "" : table(files, COLUMNS, view);
}

const COLUMNS: Column<DiffFile>[] = [
  {
    title: "PATH",
    value: ({ path, previous_path: before }) => (before === undefined ? path : `${before} → ${path}`),
    flexible: true,
    paint: (_, view) => view.paint.cyan,
  },
  { title: "STATUS", value: ({ status }) => status },
  {
    title: "ADDED",
    value: ({ additions, binary }) => (binary ? "" : String(additions)),
    paint: (_, view) => view.paint.green,
  },
  {
    title: "REMOVED",
    value: ({ deletions, binary }) => (binary ? "" : String(deletions)),
    paint: (_, view) => view.paint.red,
  },
];
