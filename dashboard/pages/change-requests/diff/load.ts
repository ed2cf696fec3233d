import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import { DIFF_FROM, DIFF_TO } from "../../../../src/contract/diff-commits.ts";
import { open } from "../../../api/call.ts";
import { chunksOf } from "../../../api/events.ts";
import { path } from "../../../api/path.ts";
import { type DiffFile, describe } from "./files.ts";
import { createPatchParser } from "./patch.ts";
import { treeRows } from "./tree.ts";

/** A larger diff is truncated; `svc cr diff` shows all of it. */
const BYTES_MAX = 32 * 1024 * 1024;

export interface Diff {
  /** In the order of the tree. */
  files: DiffFile[];
  /** Whether the diff is truncated. */
  isCut: boolean;
  /** The commits before and after the change. */
  from: string;
  to: string;
}

interface Options {
  ignoreSpace: boolean;
  /** Only what is new since the head of this number. */
  since: string | null;
  enabled?: boolean;
}

/**
 * Loads the patch as a stream. The diff of two commits never changes. While a new patch loads, the previous one is shown.
 */
export function useDiff(
  projectId: string,
  cr: ChangeRequest,
  { ignoreSpace, since, enabled = true }: Options,
) {
  const { cr_id, base_commit_sha, head_commit_sha } = cr;
  return useQuery({
    queryKey: ["patch", projectId, cr_id, base_commit_sha, head_commit_sha, ignoreSpace, since],
    queryFn: ({ signal }) => {
      const query = new URLSearchParams({
        renames: "pair",
        ...(ignoreSpace && { whitespace: "ignore" }),
        ...(since && { since }),
      });
      return load(`${path`/projects/${projectId}/change-requests/${cr_id}/diff`}?${query}`, signal);
    },
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    // structural comparison of two large patches is slow
    structuralSharing: false,
  });
}

async function load(address: string, signal: AbortSignal): Promise<Diff> {
  const { body, headers } = await open(address, { Accept: "text/x-diff" }, signal);
  const parser = createPatchParser();
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body ? chunksOf(body) : []) {
    parser.take(decoder.decode(chunk, { stream: true }));
    bytes += chunk.length;
    if (bytes > BYTES_MAX) break;
  }
  const isCut = bytes > BYTES_MAX;
  if (!isCut) parser.take(decoder.decode());
  const [from, to] = [DIFF_FROM, DIFF_TO].map((name) => headers.get(name) ?? "");
  return { files: inOrder(parser.end().map(describe)), isCut, from: from ?? "", to: to ?? "" };
}

function inOrder(files: readonly DiffFile[]): DiffFile[] {
  const ordered = treeRows(files, new Set()).flatMap((row) => (row.kind === "file" ? [row.file] : []));
  return ordered.map((file, index) => ({ ...file, index }));
}
