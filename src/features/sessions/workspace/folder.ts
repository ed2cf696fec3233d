import { arrayOf, field, numberField } from "../../../contract/json.ts";
import { FOLDER_ENTRIES_MAX } from "../../../contract/limits.ts";
import {
  WORKSPACE_ENTRY_TYPES,
  type WorkspaceEntry,
  type WorkspaceFolder,
} from "../../../contract/workspace.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { pathToWire, readPath } from "../../projects/path.ts";
import { type PathQuery, readFromSandbox } from "./read.ts";

/** A folder of the workspace. @throws validation_failed, and what `readFromSandbox` throws */
export async function listWorkspaceFolder(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { query, signal }: { query: PathQuery; signal: AbortSignal },
): Promise<WorkspaceFolder> {
  const path = readPath(query);
  const wire = pathToWire(path);
  const wanted = { read: "folder", path: path.toString("base64") } as const;
  const { line } = await readFromSandbox(deps, project, name, { wanted, shown: wire.path || ".", signal });
  const entries = arrayOf(field(line, "entries")).slice(0, FOLDER_ENTRIES_MAX);
  return {
    ...wire,
    entries: entries.flatMap((entry) => readEntry(path, entry) ?? []),
    more: countOf(line, "more"),
  };
}

/** A number of things, which the sandbox counts. */
export function countOf(line: unknown, name: string): number {
  return Math.max(0, Math.trunc(numberField(line, name) ?? 0));
}

/** Sandboxes are not trusted: null for what no folder has. */
function readEntry(folder: Buffer, value: unknown): WorkspaceEntry | null {
  const [encoded, kind, bytes]: unknown[] = arrayOf(value);
  const name = Buffer.from(typeof encoded === "string" ? encoded : "", "base64");
  const type = WORKSPACE_ENTRY_TYPES.find((each) => each === kind);
  if (type === undefined || name.length === 0 || name.includes("/") || name.includes(0)) return null;
  const path = folder.length === 0 ? name : Buffer.concat([folder, Buffer.from("/"), name]);
  const size = typeof bytes === "number" && Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null;
  return { name: name.toString(), ...pathToWire(path), type, size: type === "file" ? size : null };
}
