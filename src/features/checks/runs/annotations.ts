import { asc, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { checkRunAnnotations, checkRuns } from "../../../../db/schema/index.ts";
import { ANNOTATIONS_MAX, type Annotation, type UpdateCheckRunBody } from "../../../contract/check-run.ts";
import { invalid, type RunRow, stored } from "./values.ts";

type AnnotationRow = typeof checkRunAnnotations.$inferSelect;
type AnnotationValues = Omit<AnnotationRow, "checkRunId" | "place">;

/** What is stored of a request's annotations. @throws validation_failed */
export function annotationsOf(output: UpdateCheckRunBody["output"]): AnnotationValues[] {
  return (output?.annotations ?? []).map((each, index) => {
    const at = (field: string) => `output.annotations[${index}].${field}`;
    const { start_line: startLine, end_line: endLine } = each;
    const [startColumn, endColumn] = [each.start_column ?? null, each.end_column ?? null];
    if (endLine < startLine) throw invalid(at("end_line"), "must not be before start_line");
    if (startLine !== endLine && (startColumn !== null || endColumn !== null))
      throw invalid(at("start_column"), "and end_column are for annotations of one line only");
    return {
      path: stored(at("path"), each.path) ?? "",
      ...{ startLine, endLine, startColumn, endColumn },
      level: each.annotation_level,
      title: stored(at("title"), each.title),
      message: stored(at("message"), each.message) ?? "",
      rawDetails: stored(at("raw_details"), each.raw_details),
    };
  });
}

/** Adds annotations after those that a run has. @param tx has the project locked. @throws validation_failed */
export async function addAnnotations(
  tx: Db,
  run: RunRow,
  added: readonly AnnotationValues[],
): Promise<RunRow> {
  if (added.length === 0) return run;
  const { checkRunId, annotationsCount: first } = run;
  const annotationsCount = first + added.length;
  if (annotationsCount > ANNOTATIONS_MAX)
    throw invalid("output.annotations", `may be ${ANNOTATIONS_MAX} of one check run, which has ${first}`);
  const rows = added.map((each, index) => ({ ...each, checkRunId, place: first + index }));
  await tx.insert(checkRunAnnotations).values(rows);
  await tx.update(checkRuns).set({ annotationsCount }).where(eq(checkRuns.checkRunId, checkRunId));
  return { ...run, annotationsCount };
}

/** The annotations of a check run, in the order in which they were reported. */
export async function listAnnotations(
  db: Db,
  { checkRunId }: Pick<RunRow, "checkRunId">,
  { limit, offset }: { limit: number; offset: number },
): Promise<Annotation[]> {
  const rows = await db
    .select()
    .from(checkRunAnnotations)
    .where(eq(checkRunAnnotations.checkRunId, checkRunId))
    .orderBy(asc(checkRunAnnotations.place))
    .limit(limit)
    .offset(offset);
  return rows.map((row) => ({
    path: row.path,
    start_line: row.startLine,
    end_line: row.endLine,
    start_column: row.startColumn,
    end_column: row.endColumn,
    annotation_level: row.level,
    title: row.title,
    message: row.message,
    raw_details: row.rawDetails,
  }));
}
