import { useCallback, useMemo, useRef, useState } from "react";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import { open } from "../../../api/call.ts";
import { chunksOf } from "../../../api/events.ts";
import { path } from "../../../api/path.ts";
import { type Gap, type Opened, STEP, widen } from "./context.ts";
import type { DiffFile } from "./files.ts";
import type { Place } from "./rows.ts";

/** Of a larger file no more lines are shown. */
const BYTES_MAX = 16 * 1024 * 1024;

/** How long a file may take to load. */
const LOAD_MS = 60_000;

/** More lines of a gap: those after the hunk before it, those before the hunk after it, or all. */
export type Direction = "below" | "above" | "all";
export type OnExpand = (file: DiffFile, gap: Gap, direction: Direction) => void;

interface Expanded {
  /** The file as the patch has it. */
  source: DiffFile;
  lines: readonly string[];
  opened: ReadonlyMap<number, Opened>;
  shown: DiffFile;
}

/**
 * Lets the reader show more lines around the hunks of a file, which is loaded for the first of them.
 * @param onShown gets the first line that is new, to focus it
 */
export function useExpand(
  projectId: string,
  { head_commit_sha: sha }: ChangeRequest,
  files: readonly DiffFile[] | undefined,
  onShown: (place: Place) => void,
) {
  const [expanded, setExpanded] = useState<ReadonlyMap<string, Expanded>>(new Map());
  const [error, setError] = useState<Error | null>(null);
  const loading = useRef(new Map<string, Promise<readonly string[]>>());
  const shown = useMemo(
    () =>
      files?.map((file) => {
        const known = expanded.get(file.path);
        return known?.source === file ? known.shown : file;
      }),
    [files, expanded],
  );
  const onExpand = useCallback<OnExpand>(
    (file, gap, direction) => {
      const key = `${sha} ${file.path}`;
      const lines = loading.current.get(key) ?? load(projectId, sha ?? "", file.path);
      loading.current.set(key, lines);
      lines.then(
        (found) => {
          setError(null);
          const source = files?.find(({ index }) => index === file.index);
          if (source === undefined) return;
          setExpanded((before) => {
            const known = before.get(file.path);
            const opened = more(known?.source === source ? known.opened : new Map(), gap, direction);
            const next = {
              source,
              lines: found,
              opened,
              shown: { ...source, ...widen(source, found, opened) },
            };
            return new Map(before).set(file.path, next);
          });
          onShown({ path: file.path, side: "new", line: firstNew(file, gap, direction) });
        },
        (cause: unknown) => {
          loading.current.delete(key);
          setError(cause instanceof Error ? cause : new Error(String(cause)));
        },
      );
    },
    [projectId, sha, files, onShown],
  );
  return { shown, onExpand, error };
}

function more(
  before: ReadonlyMap<number, Opened>,
  { id }: Gap,
  direction: Direction,
): ReadonlyMap<number, Opened> {
  const { below, above } = before.get(id) ?? { below: 0, above: 0 };
  const opened =
    direction === "all"
      ? { below: Number.MAX_SAFE_INTEGER, above: Number.MAX_SAFE_INTEGER }
      : { below, above, [direction]: (direction === "below" ? below : above) + STEP };
  return new Map(before).set(id, opened);
}

/** The first line that a press shows, by its number after the change. */
function firstNew({ hunks, gaps }: DiffFile, gap: Gap, direction: Direction): number {
  const at = gaps.indexOf(gap);
  const next = hunks[at];
  const hidden = gap.hidden ?? 0;
  if (direction === "above" && next) return next.newStart - Math.min(STEP, hidden);
  const before = hunks[at - 1];
  return before ? before.newStart + before.lines.filter((line) => !/^[-\\]/.test(line)).length : 1;
}

async function load(projectId: string, sha: string, name: string): Promise<readonly string[]> {
  const query = new URLSearchParams({ ref: sha, path: name });
  const { body } = await open(
    `${path`/projects/${projectId}/contents`}?${query}`,
    { Accept: "application/octet-stream" },
    AbortSignal.timeout(LOAD_MS),
  );
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of body ? chunksOf(body) : []) {
    text += decoder.decode(chunk, { stream: true });
    bytes += chunk.length;
    if (bytes > BYTES_MAX) throw new Error("The file is too large to show more of its lines.");
  }
  const lines = (text + decoder.decode()).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
