import { Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { checksSummary } from "./commit-status.ts";
import { MERGE_METHODS } from "./merge-method.ts";
import { nullable, oneOf } from "./schema.ts";

/** The states of a change request in a merge queue: not built yet, built and tested, or taken out by svc. */
const QUEUE_STATES = ["waiting", "testing", "removed"] as const;

/** A change request in the merge queue of its base branch, or taken out of it. */
export const queueEntry = Type.Object({
  state: oneOf(QUEUE_STATES),
  position: nullable(Type.Integer({ minimum: 1, description: "Null: it was removed" })),
  reason: nullable(Type.String({ description: "Why it was removed" })),
  head_commit_sha: Type.String(),
  tested_commit_sha: nullable(
    Type.String({ description: "The merged result whose checks decide, and which lands" }),
  ),
  checks: nullable(checksSummary, "Of the merged result"),
  method: oneOf(MERGE_METHODS),
  delete_branch: Type.Boolean(),
  queued_by: author,
  queued_at: Type.String({ format: "date-time" }),
});
