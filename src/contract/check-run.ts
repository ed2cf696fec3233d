import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { type StatusState, TARGET_URL_MAX } from "./commit-status.ts";
import { CONTEXT_MAX, CONTEXT_PATTERN, PATH_MAX_BYTES } from "./limits.ts";
import { commitId, nullable, oneOf } from "./schema.ts";

/** The statuses, conclusions and levels of check runs and their annotations, as GitHub names them. */
export const RUN_STATUSES = ["queued", "in_progress", "completed"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const CONCLUSIONS = [
  "success",
  "failure",
  "neutral",
  "cancelled",
  "skipped",
  "timed_out",
  "action_required",
  "stale",
] as const;
export type Conclusion = (typeof CONCLUSIONS)[number];
/** What a run that has ended counts as, where only the states of commit statuses do: as GitHub's required checks. */
export const STATE_OF_CONCLUSION: Readonly<Record<Conclusion, StatusState>> = {
  success: "success",
  neutral: "success",
  skipped: "success",
  failure: "failure",
  timed_out: "failure",
  action_required: "failure",
  cancelled: "error",
  stale: "error",
};
export const ANNOTATION_LEVELS = ["notice", "warning", "failure"] as const;

/** Characters of a title, an external id, a summary, a text and an annotation's message and details, as on GitHub. */
export const RUN_TITLE_MAX = 255;
export const RUN_TEXT_MAX = 65_535;
/** Annotations of one request, as on GitHub, and of one check run. */
export const ANNOTATIONS_PER_REQUEST = 50;
export const ANNOTATIONS_MAX = 1_000;
/** Check runs of one commit and name that are kept, the newest. */
export const RUNS_KEPT = 20;
/** Check runs and annotations on a page that asks for no other number, as on GitHub. */
export const RUN_PAGE = 30;

const time = Type.String({ format: "date-time" });
const text = Type.String();
const line = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });
const optional = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema));

const newAnnotation = Type.Object({
  path: Type.String({ minLength: 1, maxLength: PATH_MAX_BYTES, description: "A file of the repository" }),
  start_line: line,
  end_line: line,
  start_column: optional(line),
  end_column: optional(line),
  annotation_level: oneOf(ANNOTATION_LEVELS),
  message: Type.String({ minLength: 1, maxLength: RUN_TEXT_MAX }),
  title: optional(Type.String({ maxLength: RUN_TITLE_MAX })),
  raw_details: optional(Type.String({ maxLength: RUN_TEXT_MAX })),
});

const outputText = {
  summary: Type.String({ maxLength: RUN_TEXT_MAX, description: "Markdown" }),
  text: optional(Type.String({ maxLength: RUN_TEXT_MAX, description: "Markdown" })),
  annotations: Type.Optional(
    Type.Array(newAnnotation, {
      maxItems: ANNOTATIONS_PER_REQUEST,
      description: "Added to those of earlier requests",
    }),
  ),
};
const title = Type.String({ maxLength: RUN_TITLE_MAX });
const name = Type.String({
  minLength: 1,
  maxLength: CONTEXT_MAX,
  pattern: CONTEXT_PATTERN,
  description: "The name of the check; the newest run of a commit and name counts",
});

const changes = {
  status: Type.Optional(oneOf(RUN_STATUSES)),
  conclusion: Type.Optional(oneOf(CONCLUSIONS)),
  details_url: optional(Type.String({ maxLength: TARGET_URL_MAX })),
  external_id: optional(Type.String({ maxLength: RUN_TITLE_MAX })),
  started_at: Type.Optional(time),
  completed_at: Type.Optional(time),
};

/** Body of `POST /v1/projects/:id/check-runs`: with GitHub's field names. Others of GitHub's are ignored. */
export const createCheckRunBody = Type.Object({
  name,
  head_sha: commitId("A full commit id"),
  ...changes,
  output: Type.Optional(Type.Object({ title, ...outputText })),
});
export type CreateCheckRunBody = Static<typeof createCheckRunBody>;

/** Body of `PATCH /v1/projects/:id/check-runs/:check_run_id`: what is left out stays as it is. */
export const updateCheckRunBody = Type.Object({
  name: Type.Optional(name),
  ...changes,
  output: Type.Optional(Type.Object({ title: Type.Optional(title), ...outputText })),
});
export type UpdateCheckRunBody = Static<typeof updateCheckRunBody>;

/** A run of a check on one commit: with GitHub's field names, so that CI needs only another URL. */
export const checkRun = Type.Object({
  id: Type.Integer(),
  head_sha: text,
  name: text,
  external_id: nullable(text),
  url: text,
  html_url: nullable(text, "The page of a change request with this head commit"),
  details_url: nullable(text),
  status: oneOf(RUN_STATUSES),
  conclusion: nullable(oneOf(CONCLUSIONS)),
  started_at: nullable(time),
  completed_at: nullable(time),
  output: Type.Object({
    title: nullable(text),
    summary: nullable(text),
    text: nullable(text),
    annotations_count: Type.Integer(),
    annotations_url: text,
  }),
  check_suite: Type.Null({ description: "svc has no check suites" }),
  app: Type.Null({ description: "svc has no apps that run checks" }),
  pull_requests: Type.Array(Type.Object({}), { description: "Always empty" }),
  creator: author,
});
export type CheckRun = Static<typeof checkRun>;

/** Answer of `GET …/commits/:ref/check-runs`: by name, the newest of a name first. */
export const checkRunList = Type.Object({ total_count: Type.Integer(), check_runs: Type.Array(checkRun) });
export type CheckRunList = Static<typeof checkRunList>;

/** An annotation of a check run: an entry of the answer of `GET …/check-runs/:check_run_id/annotations`. */
export const annotation = Type.Object({
  path: text,
  start_line: Type.Integer(),
  end_line: Type.Integer(),
  start_column: nullable(Type.Integer()),
  end_column: nullable(Type.Integer()),
  annotation_level: oneOf(ANNOTATION_LEVELS),
  title: nullable(text),
  message: text,
  raw_details: nullable(text),
});
export type Annotation = Static<typeof annotation>;
export const annotationList = Type.Array(annotation);
