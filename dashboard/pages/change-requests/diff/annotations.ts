import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import type { Annotation, CheckRunList } from "../../../../src/contract/check-run.ts";
import { call } from "../../../api/call.ts";
import { path } from "../../../api/path.ts";
import type { Where } from "../queries.ts";
import type { DiffFile } from "./files.ts";
import type { Diff } from "./load.ts";
import type { Place } from "./rows.ts";
import { placeKey } from "./threads.ts";

/** Check runs of a commit that are read, and annotations of each: one request for each run. */
const RUNS = 30;
const OF_RUN = 100;

/** An annotation of a check run. */
interface Named {
  id: string;
  /** The name of the check. */
  check: string;
  annotation: Annotation;
}

/** One below a line of the diff. */
export interface PlacedAnnotation extends Named {
  place: Place;
}

/** Annotations by the lines that they are below: by `placeKey`. */
export type Annotations = ReadonlyMap<string, readonly PlacedAnnotation[]>;

/** What the check runs of the head commit say of lines that the diff has. */
export function useAnnotations(where: Where, cr: ChangeRequest, diff: Diff | undefined): Annotations {
  const { head_commit_sha: sha, checks } = cr;
  const { data } = useQuery({
    // an event of a check refetches it with the change request
    queryKey: [where.projectId, "change_request", where.cr, "annotations", sha],
    queryFn: ({ signal }) => readAll(where.projectId, sha ?? "", signal),
    enabled: sha !== null && checks.total > 0,
  });
  const files = diff?.to === sha ? diff?.files : undefined;
  return useMemo(() => {
    const byPath = new Map((files ?? []).map((file) => [file.path, file]));
    const placed = (data ?? []).flatMap((named): PlacedAnnotation[] => {
      const place = placeOf(byPath.get(named.annotation.path), named.annotation);
      return place === null ? [] : [{ ...named, place }];
    });
    return Map.groupBy(placed, ({ place }) => placeKey(place));
  }, [data, files]);
}

/** The lines that have annotations. */
export function placesOf(annotations: Annotations): Place[] {
  return [...annotations.values()].flatMap(([first]) => first?.place ?? []);
}

/** The last line of an annotation that the diff of its file has; null if it has none. */
export function placeOf(file: DiffFile | undefined, annotation: Annotation): Place | null {
  const { path: name, start_line: start, end_line: end } = annotation;
  const lines = (file?.hunks ?? []).flatMap(({ newStart, lines: all }) => {
    const count = all.filter((line) => line.startsWith(" ") || line.startsWith("+")).length;
    const last = Math.min(end, newStart + count - 1);
    return last >= Math.max(start, newStart) ? [last] : [];
  });
  const line = lines.at(-1);
  return line === undefined ? null : { path: name, side: "new", line };
}

async function readAll(projectId: string, sha: string, signal: AbortSignal): Promise<Named[]> {
  const runs = path`/projects/${projectId}/commits/${sha}/check-runs`;
  const { check_runs } = await call<CheckRunList>("GET", `${runs}?per_page=${RUNS}`, { signal });
  const noted = check_runs.filter(({ output }) => output.annotations_count > 0);
  const read = noted.map(async ({ id, name }) => {
    const at = `${path`/projects/${projectId}/check-runs/${id}/annotations`}?per_page=${OF_RUN}`;
    const found = await call<Annotation[]>("GET", at, { signal });
    return found.map((annotation, index): Named => ({ id: `${id} ${index}`, check: name, annotation }));
  });
  return (await Promise.all(read)).flat();
}
