import type { checkRuns } from "../../../../db/schema/index.ts";
import type { CreateCheckRunBody, UpdateCheckRunBody } from "../../../contract/check-run.ts";
import { SvcError } from "../../../contract/errors.ts";
import { storable } from "../../../http/text.ts";
import { requireLink } from "../reportable.ts";

export type RunRow = typeof checkRuns.$inferSelect;
export type RunValues = Pick<
  RunRow,
  | "status"
  | "conclusion"
  | "detailsUrl"
  | "externalId"
  | "title"
  | "summary"
  | "text"
  | "startedAt"
  | "completedAt"
>;

/** A run of which nothing has been reported. */
export const NEW_RUN: RunValues = {
  ...{ status: "queued", conclusion: null, detailsUrl: null, externalId: null },
  ...{ title: null, summary: null, text: null, startedAt: null, completedAt: null },
};

/**
 * A run after a request, by GitHub's rules: a conclusion completes it, another status takes the conclusion away, and what is
 * left out stays.
 * @throws validation_failed, such as for a completed run without a conclusion
 */
export function valuesOf(
  body: Omit<CreateCheckRunBody, "name" | "head_sha" | "output"> & Pick<UpdateCheckRunBody, "output">,
  known: RunValues,
  now: Date,
): RunValues {
  const status = body.conclusion ? "completed" : (body.status ?? known.status);
  const conclusion = status === "completed" ? (body.conclusion ?? known.conclusion) : null;
  if (status === "completed" && conclusion === null)
    throw invalid("conclusion", "is required for a completed check run");
  if (status !== "completed" && body.completed_at !== undefined)
    throw invalid("completed_at", "requires a conclusion");
  const { output } = body;
  return {
    status,
    conclusion,
    detailsUrl: body.details_url ? requireLink("details_url", body.details_url) : known.detailsUrl,
    externalId: stored("external_id", body.external_id) ?? known.externalId,
    title: stored("output.title", output?.title) ?? known.title,
    summary: stored("output.summary", output?.summary) ?? known.summary,
    text: stored("output.text", output?.text) ?? known.text,
    startedAt: timeOf("started_at", body.started_at) ?? known.startedAt ?? (status === "queued" ? null : now),
    completedAt:
      status === "completed" ? (timeOf("completed_at", body.completed_at) ?? known.completedAt ?? now) : null,
  };
}

/** The schema limits its characters. */
export function stored(field: string, text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : storable(field, text, 4 * text.length);
}

function timeOf(field: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const time = new Date(text);
  const year = time.getUTCFullYear();
  // others cannot be stored
  if (year < 1 || year > 9999) throw invalid(field, "must be in the years 1 to 9999");
  return time;
}

export function invalid(path: string, message: string): SvcError {
  return new SvcError("validation_failed", `${path} ${message}.`, { details: [{ path, message }] });
}
