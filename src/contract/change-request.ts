import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { codeOwnerReviews } from "./code-owners.ts";
import { checksSummary } from "./commit-status.ts";
import { labelRef } from "./label.ts";
import { ASSIGNEES_MAX, NAME_MAX, REVIEWERS_MAX, TITLE_MAX } from "./limits.ts";
import { MERGE_METHODS } from "./merge-method.ts";
import { labelNames, people, person } from "./people.ts";
import { queueEntry } from "./queue-entry.ts";
import { commitId, nullable, oneOf } from "./schema.ts";
import { costUsed, tokensUsed } from "./usage.ts";

/** Spec 2.1: the states of a change request. */
export const CR_STATUSES = ["open", "merged", "closed"] as const;

/** What a person has said of a change request. */
export const REVIEW_STATES = ["approved", "changes_requested"] as const;

const text = Type.String();
const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time", description: "ISO 8601, UTC" });
const sha = Type.String({
  description: "40 or 64 hex digits, depending on the object format of the repository",
});

/** An approval of a change request, which counts only while the head is the approved commit, or a request for changes. */
const approval = Type.Object({
  user_id: uuid,
  name: text,
  author,
  head_commit_sha: sha,
  created_at: time,
  state: Type.Union([Type.Literal("approved"), Type.Literal("changes_requested")], {
    description: "`changes_requested` blocks the merge, also of later commits",
  }),
  body: nullable(Type.String({ description: "Of a request: what has to change" })),
  counts: Type.Boolean({ description: "Whether it is an approval that counts" }),
});

const mergeMethod = oneOf(MERGE_METHODS);

/** A merge that svc does once checks and approvals allow it. */
const autoMerge = Type.Object({
  enabled: Type.Boolean(),
  off_reason: nullable(Type.String({ description: "Why svc turned it off" })),
  head_commit_sha: sha,
  method: nullable(mergeMethod, "Null: the default of the project"),
  delete_branch: Type.Boolean(),
  author,
  created_at: time,
});

/** A change request as it crosses the wire: every column of spec 2.1, and its approvals. */
export const changeRequest = Type.Object({
  cr_id: uuid,
  account_id: uuid,
  project_id: uuid,
  number: Type.Integer({ minimum: 1 }),
  url: Type.String({ description: "Its page in the dashboard" }),
  title: text,
  description: text,
  base_ref: text,
  head_ref: text,
  status: Type.Union([Type.Literal("open"), Type.Literal("merged"), Type.Literal("closed")]),
  draft: Type.Boolean({ description: "Whether it is not to be merged yet" }),
  head_commit_sha: nullable(sha),
  base_commit_sha: nullable(sha),
  cost: costUsed,
  tokens: tokensUsed,
  origin_session_id: nullable(text),
  created_by: uuid,
  author,
  opened_by_agent: Type.Boolean({
    description: "Whether an agent opened it on behalf of the author",
  }),
  opened_by_session_id: nullable(
    Type.String({ description: "The session whose agent opened it; null: a person, or another token" }),
  ),
  mergeable: nullable(
    Type.Boolean({
      description:
        "Whether its commits merge without conflicts; null: not compared yet (see merge-preview), or it is not open",
    }),
  ),
  merged_at: nullable(time),
  merged_by: nullable(uuid),
  merger: nullable(author),
  merge_commit_sha: nullable(sha),
  merge_method: nullable(mergeMethod),
  merge_methods: Type.Array(mergeMethod, {
    description: "The merge methods that the project allows, the default first; `merge` includes `ff-only`",
  }),
  reverts: nullable(Type.Integer(), "The number of the merged change request that it reverts"),
  reverted_by: nullable(
    Type.Integer(),
    "The number of the newest change request that reverts it, and is not closed",
  ),
  closed_at: nullable(time),
  closed_by: nullable(uuid),
  closer: nullable(author),
  metadata: Type.Record(Type.String(), Type.Unknown()),
  created_at: time,
  updated_at: time,
  stale: Type.Boolean({
    description:
      "The repository did not respond, or no longer has one of the branches; the commits are the last known ones",
  }),
  approvals: Type.Array(approval, { description: "Approvals and requests for changes, one of each person" }),
  auto_merge: nullable(autoMerge, "Null: not asked for, or it is not open"),
  queue: nullable(queueEntry, "Null: it was not queued, or it is not open"),
  merge_queue: Type.Boolean({ description: "Whether a merge goes through the queue of the base branch" }),
  required_approvals: Type.Integer({ description: "The number that a merge requires" }),
  code_owner_reviews: nullable(
    codeOwnerReviews,
    "Null: the project requires no review from code owners, or it is not open",
  ),
  open_threads: Type.Integer({ minimum: 0, description: "Threads of comments that are not resolved" }),
  labels: Type.Array(labelRef, { description: "By name" }),
  assignees: Type.Array(person, { description: "Its assignees" }),
  requested_reviewers: Type.Array(person, {
    description: "Requested reviewers who have not reviewed it since",
  }),
  checks: checksSummary,
});
export type ChangeRequest = Static<typeof changeRequest>;

const title = Type.String({ minLength: 1, maxLength: TITLE_MAX, pattern: "\\S", description: "Not blank" });
const metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: "Free-form, up to 16 KiB of JSON",
});

/** Body of `POST /v1/projects/:id/change-requests`. */
export const openChangeRequestBody = Type.Object({
  title,
  description: Type.Optional(text),
  head_ref: Type.String({ minLength: 1, description: "The branch merged from" }),
  base_ref: Type.Optional(
    Type.String({
      minLength: 1,
      description: "The branch merged into; the default branch of the project if omitted",
    }),
  ),
  session_id: Type.Optional(Type.String({ maxLength: NAME_MAX })),
  draft: Type.Optional(Type.Boolean({ description: "Not to be merged until a PATCH says `draft: false`" })),
  metadata: Type.Optional(metadata),
  labels: labelNames("Names of the project's labels"),
  assignees: people(ASSIGNEES_MAX, "Its assignees"),
  requested_reviewers: people(REVIEWERS_MAX, "Its requested reviewers"),
});
export type OpenChangeRequestBody = Static<typeof openChangeRequestBody>;

/** Body of `PATCH /v1/projects/:id/change-requests/:crId`. */
export const editChangeRequestBody = Type.Object(
  {
    title: Type.Optional(title),
    description: Type.Optional(text),
    metadata: Type.Optional(metadata),
    base_ref: Type.Optional(
      Type.String({
        minLength: 1,
        description: "Another branch to merge into, while it is open; this removes its approvals",
      }),
    ),
    draft: Type.Optional(
      Type.Boolean({ description: "Whether it is not to be merged yet, while it is open" }),
    ),
    labels: labelNames("All of its labels, in place of those that it has"),
    add_labels: labelNames("Labels to add; the others stay"),
    remove_labels: labelNames("Labels to remove"),
    assignees: people(ASSIGNEES_MAX, "All of its assignees"),
    add_assignees: people(ASSIGNEES_MAX, "To add"),
    remove_assignees: people(ASSIGNEES_MAX, "To remove"),
    requested_reviewers: people(REVIEWERS_MAX, "All of its requested reviewers"),
    add_requested_reviewers: people(REVIEWERS_MAX, "Reviewers to request, while it is open"),
    remove_requested_reviewers: people(REVIEWERS_MAX, "Requested reviewers to remove"),
  },
  { minProperties: 1 },
);
export type EditChangeRequestBody = Static<typeof editChangeRequestBody>;

/** The head commit that the caller reviewed. The request fails if the branch has moved. */
export const seenHead = commitId(
  "The head commit that you reviewed; if the branch has moved, the answer is 409 head_moved",
);

/** Body of `POST …/merge`; the body is optional. */
export const mergeChangeRequestBody = Type.Optional(
  Type.Object({
    message: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "The message of the commit of `merge` (which then never fast-forwards) or `squash`; svc adds trailers to it",
      }),
    ),
    method: Type.Optional(mergeMethod),
    head_commit_sha: Type.Optional(seenHead),
    delete_branch: Type.Optional(
      Type.Boolean({ description: "Whether to delete the head branch after the merge; only for people" }),
    ),
  }),
);
export type MergeChangeRequestBody = NonNullable<Static<typeof mergeChangeRequestBody>>;

/** Body of `PUT …/auto-merge`. */
export const autoMergeBody = Type.Object({
  head_commit_sha: seenHead,
  message: Type.Optional(Type.String({ minLength: 1, description: "As for a merge" })),
  method: Type.Optional(mergeMethod),
  delete_branch: Type.Optional(Type.Boolean({ description: "As for a merge" })),
});
export type AutoMergeBody = Static<typeof autoMergeBody>;

/** Spec 2.7. */
export const mergePreview = Type.Object({
  base_sha: sha,
  head_sha: sha,
  merge_base: nullable(sha),
  is_up_to_date: Type.Boolean(),
  can_merge: Type.Boolean(),
  can_fast_forward: Type.Boolean(),
  conflicts: Type.Array(text),
});
export type MergePreview = Static<typeof mergePreview>;

/** What became of a head branch that was to be deleted. */
const headBranch = Type.Object(
  {
    deleted: Type.Boolean(),
    reason: nullable(Type.String({ description: "Why it was kept" })),
  },
  { description: "Only if `delete_branch` was chosen" },
);
export type HeadBranch = Static<typeof headBranch>;

/** Answer of `POST …/merge`: the bare change request and the result of the merge. */
export const mergedChangeRequest = Type.Composite([
  changeRequest,
  Type.Object({
    merge: Type.Object({
      merge_commit_sha: sha,
      fast_forward: Type.Boolean(),
      base_sha_before: sha,
      base_sha_after: sha,
    }),
    head_branch: Type.Optional(headBranch),
  }),
]);
export type MergedChangeRequest = Static<typeof mergedChangeRequest>;

/** Answer of `POST …/merge` with 202: the bare change request, in the queue. */
export type QueuedChangeRequest = ChangeRequest & { merge?: undefined };

export const diffFile = Type.Object({
  path: Type.String({ description: "U+FFFD stands for bytes that are not UTF-8" }),
  path_base64: Type.Optional(Type.String({ description: "The exact bytes, when the path is not UTF-8" })),
  status: Type.Union(
    [Type.Literal("added"), Type.Literal("modified"), Type.Literal("deleted"), Type.Literal("renamed")],
    { description: "`renamed` only with `renames=pair`" },
  ),
  previous_path: Type.Optional(Type.String({ description: "The path before, of a renamed file" })),
  previous_path_base64: Type.Optional(Type.String({ description: "Its exact bytes, when it is not UTF-8" })),
  additions: Type.Integer(),
  deletions: Type.Integer(),
  binary: Type.Boolean(),
});
export type DiffFile = Static<typeof diffFile>;

/** Answer of `GET …/diff`. `patch` applies to `merge_base` with `git apply`, byte for byte, unless `truncated`. */
export const changeRequestDiff = Type.Object({
  cr_id: uuid,
  base_ref: text,
  head_ref: text,
  base_sha: sha,
  head_sha: sha,
  merge_base: nullable(sha),
  files: Type.Array(diffFile),
  files_changed: Type.Integer(),
  additions: Type.Integer(),
  deletions: Type.Integer(),
  patch: text,
  patch_base64: Type.Optional(Type.String({ description: "The exact bytes, when the patch is not UTF-8" })),
  truncated: Type.Boolean(),
  since: Type.Optional(
    Type.Object(
      { number: Type.Integer(), commit_sha: sha },
      { description: "The earlier head at which it begins; then the patch does not apply to `merge_base`" },
    ),
  ),
});
export type ChangeRequestDiff = Static<typeof changeRequestDiff>;

/** The `status` query of `GET /v1/projects/:id/change-requests`. */
export const crStatusFilter = Type.Union([...changeRequest.properties.status.anyOf, Type.Literal("all")]);
export type CrStatusFilter = Static<typeof crStatusFilter>;
