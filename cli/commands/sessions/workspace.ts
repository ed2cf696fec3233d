import type { DiffFile } from "../../../src/contract/change-request.ts";
import { PATCH_OMITTED } from "../../../src/contract/diff-commits.ts";
import type { WorkspaceChanges, WorkspaceEntry, WorkspaceFolder } from "../../../src/contract/workspace.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as specs from "../../table/session-workspace.ts";
import { type Column, table } from "../../table-print.ts";
import { count } from "../../text.ts";
import { filesTable } from "../cr/files.ts";
import { showPatch } from "../show-patch.ts";
import { findOwnSession } from "./reference.ts";

export const files: Handler<typeof specs.files> = async (context, { args, flags }) => {
  const { out } = context;
  if (flags.changes && args.path !== undefined)
    throw usage("--changes lists all folders.", `The changes of one: svc sessions diff <id> ${args.path}`);
  const { api, path } = await findOwnSession(context, args.id);
  if (flags.changes) {
    const found = await api.call<WorkspaceChanges>({ path: `${path}/diff`, slow: true });
    await out.result(found.files.map(rowOfChange), (view) => filesTable(found.files, view));
    if (found.files.length === 0) await out.note("No files are changed.");
    if (found.more > 0) await out.warn(`${count(found.more, "more changed file")} not listed.`);
    return;
  }
  const query = { path: args.path };
  const found = await api.call<WorkspaceFolder>({ path: `${path}/files`, query, slow: true });
  await out.result(found.entries.map(rowOfEntry), (view) =>
    found.entries.length === 0 ? "" : table(found.entries, COLUMNS, view),
  );
  if (found.entries.length === 0) await out.note("The folder is empty.");
  if (found.more > 0) await out.warn(`${found.more} more not listed.`);
};

/** The rows of `--json`: both lists have the same fields. */
function rowOfEntry({ name, path, path_base64, type, size }: WorkspaceEntry) {
  const unchanged = { status: null, additions: null, deletions: null, binary: null };
  return { name, path, path_base64: path_base64 ?? null, type, size, ...unchanged };
}

function rowOfChange({ path, path_base64, status, additions, deletions, binary }: DiffFile) {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const file = { name, path, path_base64: path_base64 ?? null, type: "file", size: null };
  return { ...file, status, additions, deletions, binary };
}

const COLUMNS: Column<WorkspaceEntry>[] = [
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

export const diff: Handler<typeof specs.diff> = async (context, { args, flags }) => {
  const { out } = context;
  const found = await findOwnSession(context, args.id);
  const path = `${found.path}/diff`;
  if (out.data.json) {
    const answer = await found.api.call<WorkspaceChanges>({ path, slow: true });
    return out.result(answer, () => "");
  }
  const query = { path: args.path };
  const patch = await found.api.open({ path, query, accept: "text/x-diff", slow: true });
  await showPatch(context, patch, flags["no-pager"]);
  const omitted = Number(patch.response.headers.get(PATCH_OMITTED) ?? 0);
  if (omitted > 0)
    await out.warn(`${count(omitted, "changed file")} not in the patch: too large, or too many.`);
};
