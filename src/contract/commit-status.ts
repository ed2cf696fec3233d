import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { CONTEXT_MAX, CONTEXT_PATTERN } from "./limits.ts";
import { nullable, oneOf } from "./schema.ts";

/** The states of a commit status, as GitHub names them. */
export const STATUS_STATES = ["error", "failure", "pending", "success"] as const;
export type StatusState = (typeof STATUS_STATES)[number];

/** The context of a status that names none. */
export const DEFAULT_CONTEXT = "default";
/** Characters of a description and of a link. */
export const STATUS_DESCRIPTION_MAX = 140;
export const TARGET_URL_MAX = 2_048;
/** Contexts of one commit. */
export const CONTEXTS_MAX = 100;

const text = Type.String();
const time = Type.String({ format: "date-time" });
const sha = Type.String({ description: "40 or 64 hex digits" });
const context = Type.String({
  minLength: 1,
  maxLength: CONTEXT_MAX,
  pattern: CONTEXT_PATTERN,
  description:
    "The name of the check; a later status of the same commit and context replaces the earlier one",
});

/** The result of a check of one commit: with GitHub's field names, so that CI needs only another URL. */
export const commitStatus = Type.Object({
  id: Type.String({ format: "uuid" }),
  sha,
  state: oneOf(STATUS_STATES),
  context: text,
  description: nullable(text),
  target_url: nullable(text, "A link to the details"),
  check_run_id: nullable(Type.Integer(), "The check run that it is; null: it was reported as a status"),
  from_host: Type.Boolean({ description: "Whether svc read it from the git host" }),
  creator: nullable(author, "Null: svc ran the check itself, or read it from the git host"),
  created_at: time,
  updated_at: time,
});
export type CommitStatus = Static<typeof commitStatus>;

/** Body of `POST /v1/projects/:id/statuses/:sha`. */
export const setStatusBody = Type.Object({
  state: oneOf(STATUS_STATES),
  context: Type.Optional(context),
  description: Type.Optional(nullable(Type.String({ maxLength: STATUS_DESCRIPTION_MAX }))),
  target_url: Type.Optional(nullable(Type.String({ maxLength: TARGET_URL_MAX }))),
});
export type SetStatusBody = Static<typeof setStatusBody>;

/** Answer of `GET /v1/projects/:id/commits/:sha/status`. */
export const combinedStatus = Type.Object({
  sha,
  state: oneOf(["failure", "pending", "success"]),
  total_count: Type.Integer(),
  statuses: Type.Array(commitStatus),
});
export type CombinedStatus = Static<typeof combinedStatus>;

/** The checks of a change request's head commit, in brief. */
export const checksSummary = Type.Object({
  state: oneOf(["none", "failure", "pending", "success"]),
  total: Type.Integer({ description: "Contexts that have reported a status" }),
  passed: Type.Integer(),
  failed: Type.Integer(),
  pending: Type.Integer(),
  required: Type.Array(
    Type.Object({ context: text, state: nullable(oneOf(STATUS_STATES), "Null: not reported yet") }),
    { description: "The checks that a merge requires" },
  ),
});
export type ChecksSummary = Static<typeof checksSummary>;
