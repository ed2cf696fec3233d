import type { DiffFile } from "../../../contract/change-request.ts";
import { PATCH_OMITTED } from "../../../contract/diff-commits.ts";
import { arrayOf, field, textField } from "../../../contract/json.ts";
import { CHANGED_FILES_MAX } from "../../../contract/limits.ts";
import type { WorkspaceChanges } from "../../../contract/workspace.ts";
import type { Deps } from "../../../deps.ts";
import { streamOf } from "../../../http/stream.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { pathToWire, readPath } from "../../projects/path.ts";
import { countOf } from "./folder.ts";
import { type PathQuery, readFromSandbox, unreadable } from "./read.ts";

/** What the workspace changes since its branch left the default branch. @throws what `readFromSandbox` throws */
export async function readWorkspaceChanges(
  deps: Deps,
  project: ProjectRow,
  name: string,
  signal: AbortSignal,
): Promise<WorkspaceChanges> {
  const wanted = { read: "changes", default_branch: project.defaultBranch } as const;
  const { line } = await readFromSandbox(deps, project, name, { wanted, shown: ".", signal });
  const version = textField(line, "version");
  if (!/^[0-9a-f]{64}$/.test(version)) throw unreadable(name);
  return {
    ...{ base: commitIn(line, "base"), head: commitIn(line, "head"), version },
    files: arrayOf(field(line, "files"))
      .slice(0, CHANGED_FILES_MAX)
      .flatMap((file) => readFile(file) ?? []),
    more: countOf(line, "more"),
  };
}

/**
 * The same as a patch, which `git apply` accepts on top of the base. Of one path, without the content of binary files.
 * @throws as above, validation_failed
 */
export async function streamWorkspacePatch(
  deps: Deps,
  project: ProjectRow,
  name: string,
  query: PathQuery,
): Promise<Response> {
  const path = readPath(query);
  const shown = pathToWire(path).path || ".";
  const limit = path.length === 0 ? null : path.toString("base64");
  const wanted = { read: "patch", default_branch: project.defaultBranch, path: limit } as const;
  const stop = new AbortController();
  const { line, bytes } = await readFromSandbox(deps, project, name, { wanted, shown, signal: stop.signal });
  const body = streamOf(async (onBytes, signal) => {
    signal.addEventListener("abort", () => stop.abort());
    for await (const piece of bytes) if (!(await onBytes(piece))) return;
  });
  return new Response(body, {
    headers: {
      "Content-Type": "text/x-diff; charset=utf-8",
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "no-store",
      [PATCH_OMITTED]: String(countOf(line, "omitted")),
    },
  });
}

const STATUSES = ["added", "modified", "deleted"] as const;

/** Sandboxes are not trusted: null for what is no changed file. */
function readFile(value: unknown): DiffFile | null {
  const [encoded, kind, lines]: unknown[] = arrayOf(value);
  const path = Buffer.from(typeof encoded === "string" ? encoded : "", "base64");
  const status = STATUSES.find((each) => each === kind);
  if (path.length === 0 || status === undefined) return null;
  const [additions, deletions] = arrayOf(lines).map((each) =>
    typeof each === "number" && Number.isSafeInteger(each) ? Math.max(0, each) : 0,
  );
  const binary = additions === undefined || deletions === undefined;
  return { ...pathToWire(path), status, additions: additions ?? 0, deletions: deletions ?? 0, binary };
}

function commitIn(line: unknown, name: string): string | null {
  const id = textField(line, name);
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) ? id : null;
}
